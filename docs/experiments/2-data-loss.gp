# histogram.tsv: records lost, histories for acks=0, 1, all
set terminal svg size 760,380 font "sans-serif,13"
set style data histograms
set style fill solid 0.85 border lc rgb "white"
set boxwidth 0.9
set xlabel "acknowledged records lost in a history"
set ylabel "histories"
set key top right
set grid ytics lc rgb "#dddddd"
plot "histogram.tsv" using 2:xtic(1) lc rgb "#c0392b" title "acks=0", \
     "" using 3 lc rgb "#e0a030" title "acks=1", \
     "" using 4 lc rgb "#2e8b57" title "acks=all"
