import type { buildConnector } from 'undici'
import type { Transport } from './request.ts'

/** A connection that can be destroyed, even while it is still being made. */
export type Broken = { destroy(): unknown }
export type Dial = (target: buildConnector.Options, callback: buildConnector.Callback) => Broken | undefined
/** Returns the dial function of a transport; without one, the default. */
export type DialOf = (transport: Transport | undefined) => Dial
