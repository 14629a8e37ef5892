# paced.tsv: linger, batch.size, codec, batches, bytes, us of CPU; unpaced.tsv: batch.size, codec, batches, bytes, records/s
set terminal svg size 760,700 font "sans-serif,13"
set multiplot layout 2,1
codecs = "none gzip snappy lz4 zstd"
array colour[5] = ["#555555", "#1b6ca8", "#e0a030", "#2e8b57", "#c0392b"]
set grid ytics lc rgb "#dddddd"
set key outside right
set yrange [0:*]
set title "through a pipe, 5,000 records a second, batch.size 65536"
set xlabel "linger.ms"
set ylabel "bytes on disk a record"
set xtics (0, 5, 20)
plot for [i=1:5] sprintf("< awk '$2 == 65536 && $3 == \"%s\"' paced.tsv", word(codecs, i)) using 1:($5 / 6000) \
  with linespoints lw 2 pt 7 ps 0.7 lc rgb colour[i] title word(codecs, i)
set title "from a file"
set xlabel "batch.size"
set ylabel "thousand records a second"
set logscale x 2
set xtics (1024, 16384, 65536)
plot for [i=1:5] sprintf("< awk '$2 == \"%s\"' unpaced.tsv", word(codecs, i)) using 1:($5 / 1000) \
  with linespoints lw 2 pt 7 ps 0.7 lc rgb colour[i] title word(codecs, i)
unset multiplot
