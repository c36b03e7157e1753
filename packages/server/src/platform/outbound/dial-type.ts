import type { buildConnector } from 'undici'
import type { Transport } from './request.ts'

/** What can be broken off, also while it is still being made. */
export type Broken = { destroy(): unknown }
export type Dial = (target: buildConnector.Options, callback: buildConnector.Callback) => Broken | undefined
/** How connections of a transport are made; without one, the ordinary way. */
export type DialOf = (transport: Transport | undefined) => Dial
