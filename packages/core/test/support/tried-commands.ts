/** Files of the project in which `TRIED_COMMANDS` run, by path; `linked` has a second name outside of the project. */
export const TRIED_PROJECT: Readonly<Record<string, string>> = {
  "a.txt": "one\ntwo\nthree\n",
  "b.txt": "b\n",
  linked: "linked\n",
  "dir/inner.txt": "inner\n",
  "dir/deep/er/file": "deep\n",
  "src/main.py": "print('hello')\n",
  "run.sh": "#!/bin/sh\necho run\n",
};

/** What commands do to one path; `P` is replaced by it. */
const ON_A_FILE: readonly string[] = [
  "echo more >> P",
  "echo other > P",
  ": > P",
  "rm -f P",
  "mv P P.moved",
  "cp P P.copy",
  "cp -a P P.copy && rm P && mv P.copy P",
  "chmod 000 P",
  "chmod u+s P",
  "chmod 777 P",
  "chown $(id -u):$(id -g) P",
  "chown 65534 P",
  "touch P",
  "touch -d 2001-01-01 P",
  "ln P P.hard && echo through >> P.hard",
  "ln -sf P P.soft && echo through >> P.soft",
  "truncate -s 1M P",
  "truncate -s 10G P",
  "sed -i s/o/0/ P",
  "dd if=/dev/zero of=P bs=4k count=3 conv=notrunc",
  "tee -a P < /etc/hostname",
  "install -m 755 P P.installed",
  "exec 3<>P; echo over >&3",
  'python3 -c \'import mmap; f=open("P","r+b"); m=mmap.mmap(f.fileno(),0); m[0:1]=b"X"; m.flush()\'',
  'python3 -c \'import os; os.rename("P","P.renamed")\'',
  "(sleep 5; echo late >> P) & echo started",
  "nohup sh -c 'while :; do echo again >> P; sleep 0.01; done' >/dev/null 2>&1 & sleep 0.05",
  "setsid sh -c 'sleep 5; rm -f P' >/dev/null 2>&1 &",
];

const FILES: readonly string[] = ["a.txt", "linked", "dir/inner.txt", "dir/deep/er/file"];

/** `$OUTSIDE` is a directory beside the project, `$SERVER` a server of the session's user, `$JOB` a process. */
const OTHER: readonly string[] = [
  ...["rm -rf dir", "rm -rf ./* .[!.]*", "mv dir other", "mv dir/deep dir/moved", "rmdir dir/deep/er"],
  ...[
    "rm -r dir && mkdir dir && echo new > dir/new",
    "rm a.txt && mkdir a.txt",
    "rm -r dir && echo file > dir",
  ],
  ...[
    "chmod 000 dir",
    "chmod -R 000 .",
    "chmod -R u+w,g+s .",
    "find . -type f -delete",
    "find . -exec touch {} +",
  ],
  ...["mkfifo pipe", "mkfifo pipe; (echo x > pipe &) ; cat pipe", "mknod null c 1 3", "mknod white c 0 0"],
  "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'",
  "python3 -c 'import socket,time; s=socket.socket(); s.bind((\"127.0.0.1\",0)); s.listen(); time.sleep(5)' &",
  ...["mount -t tmpfs none dir", "mount --bind dir src", "umount .", "unshare -rm mount -t tmpfs none dir"],
  ...["mount -o remount,rw /", "nsenter -t 1 -m touch escaped", "unshare -r touch unshared"],
  ...[
    "git init -q . && git add . && git commit -qm all",
    "git init -q sub && cd sub && git commit -q --allow-empty -m x",
  ],
  ...[
    "git commit -qam change",
    "git checkout -qb topic",
    "git tag v1",
    "git stash",
    "git gc -q",
    "git clean -fdxq",
  ],
  ...[
    "git config user.name other",
    "echo hook > .git/hooks/pre-commit",
    "rm -rf .git",
    "git worktree add ../wt",
  ],
  ...["git reset --hard -q HEAD~1", "git update-ref -d HEAD", "git branch -D main", "git mv b.txt c.txt"],
  ...[
    "touch $OUTSIDE/made",
    "echo x >> $OUTSIDE/other-name",
    "ln $OUTSIDE/other-name here",
    "rm -rf $OUTSIDE",
  ],
  ...[
    "ln -s $OUTSIDE link && touch link/made",
    "cp -r $OUTSIDE inside",
    "mv a.txt $OUTSIDE/",
    "touch ~/made",
  ],
  ...[
    "echo x >> ~/.bashrc",
    "echo x > $TMPDIR/kept",
    "rm -rf $TMPDIR/*",
    "touch /tmp/made",
    "mktemp -d",
    "ls /tmp",
  ],
  ...[
    "touch /var/tmp/made",
    "touch /dev/shm/made",
    "echo x > /etc/made",
    "echo x > /proc/sys/kernel/hostname",
  ],
  ...[
    "kill $JOB",
    "kill -9 -1",
    "pkill -f sleep",
    "kill -STOP $JOB",
    "cat /proc/$JOB/environ",
    "renice 10 $JOB",
  ],
  ...["curl -s -m 2 $SERVER", "curl -s -m 2 --noproxy '*' $SERVER", "curl -s -m 2 http://host.example/"],
  'python3 -c \'import socket,os; socket.create_connection(("127.0.0.1",int(os.environ["SERVER"].rsplit(":",1)[1])),2).send(b"GET / HTTP/1.0\\r\\n\\r\\n")\'',
  ...[
    "truncate -s 10G sparse",
    "fallocate -l 1M full",
    "dd if=/dev/zero of=sparse bs=1 count=1 seek=10G",
    "yes | head -c 5M > big",
  ],
  ...[
    "exit 3",
    "kill -9 $$",
    "echo x >> a.txt; false",
    "exec sleep 0",
    ":(){ :|: & };: & sleep 0.05; kill %1",
  ],
  ...["tar cf all.tar --exclude=all.tar .", "tar cf - dir | tar xf - -C src"],
  ...[
    "sh run.sh > out",
    "python3 src/main.py > out 2>&1",
    "python3 -m compileall -q src",
    "touch $'bad\\xff name'",
  ],
  ...["touch -- -rf", "touch 'a\nb'", "for i in $(seq 300); do echo $i > many-$i; done"],
];

/** 200 commands that try to have an effect beyond a view of the project. */
export const TRIED_COMMANDS: readonly string[] = [
  ...FILES.flatMap((file) => ON_A_FILE.map((command) => command.replaceAll("P", file))),
  ...OTHER,
];
