"""How long after an append a process that follows the file says so: a bare inotify loop, and `tk consume --follow`."""
import ctypes
import os
import socket
import statistics
import struct
import subprocess
import time

PAUSE = 0.002


def inotify_times(path, count=300):
    """Seconds from an append of 170 bytes until a process that watches the file has said so over a socket: what nothing that
    follows a file can beat by much."""
    libc = ctypes.CDLL(None, use_errno=True)
    ours, theirs = socket.socketpair()
    open(path, "wb").close()
    watcher = os.fork()
    if watcher == 0:
        number = libc.inotify_init1(0)
        libc.inotify_add_watch(number, path.encode(), 2)  # IN_MODIFY
        file = os.open(path, os.O_RDONLY)
        theirs.send(b"r")
        while os.read(number, 4096):
            os.read(file, 4096)
            theirs.send(b"x")
    ours.recv(1)
    times = []
    with open(path, "ab", buffering=0) as file:
        for _ in range(count):
            time.sleep(PAUSE)
            begin = time.perf_counter()
            file.write(b"x" * 170)
            ours.recv(1)
            times.append(time.perf_counter() - begin)
    os.kill(watcher, 9)
    os.waitpid(watcher, 0)
    return times


def follow_times(tk, directory, count=300):
    """Seconds from an append to a json topic's segment until `tk consume --follow` has printed the record."""
    words = [tk, "-d", directory]
    subprocess.run([*words, "topics", "create", "t", "--format", "json", "-q"], check=True)
    subprocess.run([*words, "produce", "t", "-q"], input=b"first\n", check=True)
    reader = subprocess.Popen([*words, "consume", "t", "-F", "-o", "0"], stdout=subprocess.PIPE, bufsize=0)
    reader.stdout.readline()
    times = []
    with open(os.path.join(directory, "t-0", f"{0:020d}.log"), "ab", buffering=0) as log:
        for offset in range(1, count + 1):
            body = b'{"ts":%d,"value":"%s"}' % (time.time_ns() // 10**6, b"x" * 120)
            time.sleep(PAUSE)
            begin = time.perf_counter()
            log.write(struct.pack(">qi", offset, len(body)) + body)
            if reader.stdout.readline() != b"x" * 120 + b"\n":
                raise SystemExit("bench: the follower printed something else")
            times.append(time.perf_counter() - begin)
    reader.terminate()
    reader.wait()
    return times


def median(function, *arguments):
    return statistics.median(function(*arguments))
