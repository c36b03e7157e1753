/** The rules for the slots of each process: what a workspace leaves to others, and that nobody waits while others come and go. */
import type { DeliverLimits } from '../src/pipeline/deliver/limits.ts'
import { Violation } from './violation.ts'

/** Nobody asks about earlier times. */
const FORGOTTEN_MS = 120_000

interface Process {
  inUse: number
  readonly of: Map<string, number>
  /** When the workspace last had a slot here. */
  readonly lastHeldAt: Map<string, number>
  /** When the workspace could last not take one more slot here. */
  readonly lastShortAt: Map<string, number>
  freedAt: number[]
}

export class SlotRules {
  readonly #limits: DeliverLimits
  readonly #workspaces = new Set<string>()
  readonly #processes = new Map<string, Process>()

  constructor(limits: DeliverLimits) {
    this.#limits = limits
  }

  addWorkspace(workspace: string): void {
    this.#workspaces.add(workspace)
  }

  /** A process takes a slot: it asks the store to start an attempt. */
  took(name: string, workspace: string, now: number): void {
    // oxlint-disable-line max-params -- the process, the workspace, and the time
    const process = this.#of(name)
    const before = process.of.get(workspace) ?? 0
    process.inUse += 1
    process.of.set(workspace, before + 1)
    this.#mustLeaveEnough(process, { name, workspace, held: before + 1 })
    this.#noted(process, now)
  }

  /** The request has ended, or the attempt was not sent. */
  freed(name: string, workspace: string, now: number): void {
    // oxlint-disable-line max-params -- as above
    const process = this.#of(name)
    process.inUse -= 1
    process.of.set(workspace, (process.of.get(workspace) ?? 0) - 1)
    process.freedAt.push(now)
    if (process.freedAt.length > 1_000) process.freedAt = process.freedAt.filter((at) => at > now - FORGOTTEN_MS)
    process.lastHeldAt.set(workspace, now)
    this.#noted(process, now)
  }

  /** Its memory is lost. It may have been short of slots until now. */
  ended(name: string, now: number): void {
    const process = this.#of(name)
    this.#noted(process, now)
    process.inUse = 0
    process.of.clear()
    process.freedAt = []
  }

  /** True when some process may have had no slot for one more request of the workspace at some time since `since`. */
  wasShort(workspace: string, since: number): boolean {
    for (const process of this.#processes.values()) {
      if ((process.lastShortAt.get(workspace) ?? -Infinity) > since || this.#isShort(process, workspace)) return true
    }
    return false
  }

  /** The workspace has had work in this process since `since`. It must not have been passed over by all others. */
  mustNotStarve(name: string, workspace: string, since: number): void {
    // oxlint-disable-line max-params -- as above
    const process = this.#of(name)
    if ((process.of.get(workspace) ?? 0) > 0 || (process.lastHeldAt.get(workspace) ?? -Infinity) > since) return
    const freed = process.freedAt.filter((at) => at > since).length
    if (freed > this.#workspaces.size)
      throw new Violation(`${workspace} got no slot of ${name} although ${freed} were freed`)
  }

  #mustLeaveEnough(
    { inUse }: Process,
    { name, workspace, held }: { name: string; workspace: string; held: number },
  ): void {
    const { requestsMax, requestsReserved, requestsShare } = this.#limits
    if (inUse > requestsMax) throw new Violation(`${name} uses ${inUse} of ${requestsMax} slots`)
    if (held === 1) return
    const left = requestsMax - requestsReserved - inUse
    if (left < 0)
      throw new Violation(`${workspace} took its slot ${held} of ${name} from the reserve for workspaces without any`)
    if (held > requestsShare * left) throw new Violation(`${workspace} took slot ${held} of ${name} and left ${left}`)
  }

  #isShort({ inUse, of }: Process, workspace: string): boolean {
    const { requestsMax, requestsReserved, requestsShare } = this.#limits
    const held = of.get(workspace) ?? 0
    if (held === 0) return inUse >= requestsMax
    // Its lanes share the slots of the workspace in the same way, so a lane can be short a little earlier.
    const leftForWorkspace = requestsShare * (requestsMax - requestsReserved - (inUse + 1)) - (held + 1)
    return held + 1 > requestsShare * leftForWorkspace
  }

  #noted(process: Process, now: number): void {
    if (process.inUse <= 2) return
    for (const workspace of this.#workspaces)
      if (this.#isShort(process, workspace)) process.lastShortAt.set(workspace, now)
  }

  #of(name: string): Process {
    const known = this.#processes.get(name)
    if (known !== undefined) return known
    const process = { inUse: 0, of: new Map(), lastHeldAt: new Map(), lastShortAt: new Map(), freedAt: [] }
    this.#processes.set(name, process)
    return process
  }
}
