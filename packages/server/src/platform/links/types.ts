import type { ConnectionOptions } from 'node:tls'
import type { DestinationConfig } from '@postroad/contract'
import type { GuardedSocket } from '../guarded/guarded-socket.ts'
import type { Opening } from '../guarded/opening.ts'
import type { Units } from '../guarded/units.ts'
import type { TransportTls } from '../outbound/request.ts'
import type { LinkFailureCode } from './failure.ts'
import type { Remaining } from './remaining.ts'

/** An event on its way to a system that is not reached by HTTP requests. */
export type LinkMessage = {
  /** The public id of the event. Receivers recognize a repeat by it. */
  readonly id: string
  readonly dataset: string
  readonly receivedAt: Date
  readonly body: string
  /** The headers of a delivery, for systems whose messages have headers. */
  readonly headers: Readonly<Record<string, string>>
}

/** The address and the credentials of such a system. The last three members are secret. */
export type LinkPlace = {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly protocol: string
  readonly isEncrypted: boolean
  readonly tls: TransportTls | null
  readonly user: { readonly name: string; readonly password: string } | null
  readonly token: string | null
}

/** A connection, or a few of them, to one destination. */
export type Link = {
  /**
   * Resolves with the answer when the other system has the event; otherwise rejects. After an abort, no part of it
   * remains under way here.
   */
  readonly send: (message: LinkMessage, signal: AbortSignal) => Promise<string>
  /** Whether it can send nothing more. */
  readonly isBroken: () => boolean
  readonly close: () => void
}

/**
 * Opens a guarded connection to the place, or to another server of its cluster. The pool of links destroys it when the link
 * ends. Rejects with the error of the connection.
 */
export type OpenSocket = (wanted: {
  readonly units?: Units
  readonly opening: Opening | null
  readonly host?: string
  readonly port?: number
}) => Promise<GuardedSocket>

export type LinkSettings<Kind extends DestinationConfig['kind'] = DestinationConfig['kind']> = {
  readonly openSocket: OpenSocket
  /** For a driver that encrypts the connection itself. */
  readonly tlsOptions: () => ConnectionOptions
  readonly place: LinkPlace
  readonly config: Extract<DestinationConfig, { readonly kind: Kind }>
  readonly maxInFlight: number
  /** Identifies the lane and its settings. */
  readonly scope: string
  /** Outlives a link. */
  readonly remaining: Remaining
  /** Aborted when the link ends. */
  readonly signal: AbortSignal
}

export type OpenLink<Kind extends DestinationConfig['kind']> = (settings: LinkSettings<Kind>) => Promise<Link>

export type LinkResult =
  | { readonly kind: 'accepted'; readonly text: string; readonly durationMs: number }
  | {
      readonly kind: 'failure'
      readonly code: LinkFailureCode
      readonly detail: string
      readonly isPermanent: boolean
      readonly durationMs: number
    }
