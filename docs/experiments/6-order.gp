# handovers.tsv: partition, first and last place in the order of the work, consumer
set terminal svg size 760,380 font "sans-serif,13"
set xlabel "records worked on"
set ylabel "partition"
set yrange [-0.6:5.6]
set ytics 1
set key outside right title "consumer"
array colour[6] = ["#555555", "#1b6ca8", "#e0a030", "#2e8b57", "#c0392b", "#8e44ad"]
plot for [i=1:6] sprintf("< awk '$4 == \"c%d\"' handovers.tsv", i) using 2:1:($3 - $2):(0) \
  with vectors nohead lw 14 lc rgb colour[i] title sprintf("c%d", i)
