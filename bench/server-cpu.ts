import { readFile } from 'node:fs/promises'

/** `utime` and `stime` of /proc/PID/stat count in these, on every Linux that is common. Milliseconds. */
const TICK = 10
/** Places in /proc/PID/stat after the command's name (proc_pid_stat(5)). */
const UTIME = 11
const STIME = 12
const CHILDREN_UTIME = 13
const CHILDREN_STIME = 14

/** CPU time that a process and its threads have used so far, in milliseconds. */
export async function cpuOf(pid: number): Promise<number> {
  const fields = await statFields(pid)
  return TICK * (Number(fields[UTIME]) + Number(fields[STIME]))
}

/** CPU time of all the processes that this one has started and that have ended, and of theirs, in milliseconds. */
export async function cpuOfChildren(pid: number): Promise<number> {
  const fields = await statFields(pid)
  return TICK * (Number(fields[CHILDREN_UTIME]) + Number(fields[CHILDREN_STIME]))
}

async function statFields(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
