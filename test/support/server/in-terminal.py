"""Runs a command in a terminal of its own: in-terminal.py COLUMNS WHAT KEYS COMMAND...

Once WHAT (a regular expression) has appeared, KEYS are typed. Prints as JSON all that the terminal has shown, the exit
code or minus the signal, and whether the terminal is set as it was before.
"""

import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios

columns, what, keys = int(sys.argv[1]), re.compile(sys.argv[2]), sys.argv[3]
master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
before = termios.tcgetattr(slave)


def take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


child = subprocess.Popen(
    sys.argv[4:], stdin=slave, stdout=slave, stderr=slave, start_new_session=True, preexec_fn=take_terminal
)
shown = b""
typed = False
while True:
    ended = child.poll() is not None
    if select.select([master], [], [], 0.05)[0]:
        shown += os.read(master, 65536)
    elif ended:
        break
    if not typed and what.search(shown.decode(errors="replace")):
        os.write(master, keys.encode())
        typed = True
print(json.dumps({"shown": shown.decode(), "code": child.returncode, "same": termios.tcgetattr(slave) == before}))
