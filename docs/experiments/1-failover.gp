# offsets.tsv: step, log end of brokers 1 2 3, high watermark, records read
set terminal svg size 760,420 font "sans-serif,13"
set key top left reverse Left
set xlabel "step"
set ylabel "offset"
set xrange [-0.3:9.3]
set xtics 1
set grid ytics lc rgb "#dddddd"
set arrow from 3,graph 0 to 3,graph 1 nohead dt 3 lc rgb "#999999"
set label "broker 3 dies" at 3.05,graph 0.06
set arrow from 5,graph 0 to 5,graph 1 nohead dt 3 lc rgb "#999999"
set label "broker 1 dies, 2 is elected" at 5.05,graph 0.12
plot "offsets.tsv" using 1:5 with steps lw 9 lc rgb "#cccccc" title "high watermark", \
     "" using 1:2 with linespoints lw 2 pt 7 ps 0.7 lc rgb "#1b6ca8" title "log end, broker 1", \
     "" using 1:3 with linespoints lw 2 pt 5 ps 0.6 lc rgb "#c0392b" title "log end, broker 2", \
     "" using 1:4 with linespoints lw 2 pt 9 ps 0.7 lc rgb "#2e8b57" title "log end, broker 3", \
     "" using 1:6 with points pt 6 ps 1.4 lc rgb "black" title "read by the consumer"
