import type { Deps } from '../../context.ts'
import type { AcceptAll } from '../accept.ts'

/** The process, and the road of events that no sender sent. */
export type AgentDeps = Deps & { readonly acceptAll: AcceptAll }
