import type { Deps } from '../context.ts'
import { stopwatch } from '../platform/clock.ts'
import { separately } from '../platform/separately.ts'
import { deleteOtherTasks, putRun } from '../resources/operate/upkeep-tasks/queries.ts'

/** A part of upkeep. */
export type Task = {
  /** The name in the log and in the doctor. */
  readonly name: string
  /** Returns how many rows or tables it created, deleted or counted. */
  readonly run: () => Promise<number>
}

const ERROR_CHARS_MAX = 300

/** Runs every task, whichever of them fail. Each run is logged, measured and stored, and failures are thrown at the end. */
export function runTasks(deps: Deps, tasks: readonly Task[]): Promise<void> {
  const names = tasks.map(({ name }) => name)
  const last = (): Promise<number> => deleteOtherTasks(deps.database, names)
  return separately([...tasks.map((task) => () => runTask(deps, task)), last], (part) => part())
}

async function runTask(deps: Deps, { name, run }: Task): Promise<void> {
  const at = new Date(deps.clock.now())
  const durationMs = stopwatch()
  try {
    const changed = await run()
    deps.log.debug('upkeep.task_done', { task: name, changed, duration_ms: durationMs() })
    await putRun(deps.database, { name, at, durationMs: durationMs(), changed, error: null })
  } catch (cause) {
    deps.log.warn('upkeep.task_failed', { task: name, duration_ms: durationMs(), cause })
    await putRun(deps.database, { name, at, durationMs: durationMs(), changed: null, error: textOf(cause) })
    throw cause
  }
}

function textOf(cause: unknown): string {
  const said = cause instanceof Error ? cause.message : String(cause)
  return said.replaceAll('\0', '').slice(0, ERROR_CHARS_MAX)
}
