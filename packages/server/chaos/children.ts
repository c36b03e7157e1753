import { execFileSync } from 'node:child_process'

/** The living child processes of a process, with their command lines. */
export function childrenOf(parent: number): readonly { readonly pid: number; readonly title: string }[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,ppid=,args='], { encoding: 'utf8' }).split('\n')
  return lines.flatMap((line) => {
    const [, pid, ppid, title = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return Number(ppid) === parent ? [{ pid: Number(pid), title }] : []
  })
}
