import type { HeldAuth } from './destination-auth.ts'

/** The stored form of a destination's TLS and proxy settings, sealed as a whole. */
export type HeldTls = {
  readonly certificate?: string | undefined
  readonly private_key?: string | undefined
  readonly ca?: string | undefined
}
export type HeldProxy = {
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
}

/** The way to reach a destination, beyond its URL. */
export type Reach = { readonly auth: HeldAuth | null; readonly tls: HeldTls | null; readonly proxy: HeldProxy | null }

/** The opened texts, or null where nothing was stored. */
export type ReachTexts = { readonly [Part in keyof Reach]: string | null }

/** Parses the texts. `JSON.stringify` of the same types wrote them, so nothing is checked again. */
export function reachOf({ auth, tls, proxy }: ReachTexts): Reach {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sealed values open only as they were sealed
  return { auth: valueOf(auth), tls: valueOf(tls), proxy: valueOf(proxy) } as Reach
}

const valueOf = (text: string | null): unknown => (text === null ? null : JSON.parse(text))
