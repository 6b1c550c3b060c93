#!/usr/bin/env python3
"""Delays every packet between network namespaces, where the kernel has no netem. Root only.

Gives each of the namespaces limpid1 … limpidN a TUN device "delay0" with the address 10.78.0.I and carries packets between
them, each so many seconds later. Prints "ready" and runs until it is killed.
Usage: delay_relay.py N SECONDS
"""
import ctypes, fcntl, heapq, os, select, struct, subprocess, sys, time

TUNSETIFF, IFF_TUN, IFF_NO_PI, CLONE_NEWNET = 0x400454CA, 0x0001, 0x1000, 0x40000000
hosts, delay = int(sys.argv[1]), float(sys.argv[2])
libc = ctypes.CDLL(None, use_errno=True)


def enter(path):
    namespace = os.open(path, os.O_RDONLY)
    if libc.setns(namespace, CLONE_NEWNET) != 0:
        sys.exit(f"cannot enter {path}: {os.strerror(ctypes.get_errno())}")
    os.close(namespace)


home = f"/proc/{os.getpid()}/ns/net"
home_file = os.open(home, os.O_RDONLY)
device = {}  # by the last number of the address
for host in range(1, hosts + 1):
    enter(f"/run/netns/limpid{host}")
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH", b"delay0", IFF_TUN | IFF_NO_PI))
    libc.setns(home_file, CLONE_NEWNET)
    inside = ["ip", "netns", "exec", f"limpid{host}", "ip"]
    subprocess.run(inside + ["address", "add", f"10.78.0.{host}/24", "dev", "delay0"], check=True)
    subprocess.run(inside + ["link", "set", "delay0", "mtu", "32000", "txqueuelen", "10000", "up"], check=True)
    device[host] = tun

print("ready", flush=True)
waiting, order = [], 0
while True:
    pause = max(0.0, waiting[0][0] - time.monotonic()) if waiting else None
    for tun in select.select(list(device.values()), [], [], pause)[0]:
        try:
            packet = os.read(tun, 65536)
        except BlockingIOError:
            continue
        if packet[0] >> 4 == 4 and packet[19] in device:
            order += 1
            heapq.heappush(waiting, (time.monotonic() + delay, order, device[packet[19]], packet))
    while waiting and waiting[0][0] <= time.monotonic():
        _, _, tun, packet = heapq.heappop(waiting)
        try:
            os.write(tun, packet)
        except OSError:  # lost, as on any network; TCP sends it again
            pass
