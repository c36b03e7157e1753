import type { Deps } from '../../context.ts'
import type { AcceptAll } from '../accept.ts'

/** The parts that every runner of sources and triggers uses. */
export type SourceDeps = Deps & { readonly acceptAll: AcceptAll }

/** The row was changed, or another process is ahead: nothing of this run may be stored. */
export class Overtaken extends Error {
  constructor() {
    super('Another process, or a change of the settings, was ahead of this run.')
    this.name = 'Overtaken'
  }
}
