import { useCallback, useEffect, useRef, useState } from 'react'
import type { Me } from '../data/server.ts'
import { enter, type Entry, type Session } from '../data/session.ts'

/** The access is renewed this long before it ends, if the page around can do that. */
const AHEAD_MS = 120_000
/** The longest delay that a timer accepts. */
const DELAY_MS_MAX = 2_147_483_647
const DELAY_MS_MIN = 30_000

/** The session of the page: it starts with the page, and again with each token that the page around sends. */
export function useSession(
  { server, around, token }: Entry,
  onEnter: (portal: Me['portal']) => void,
): { readonly session: Session; readonly end: (session: Session) => void; readonly again: () => void } {
  const [session, setSession] = useState<Session>({ at: 'entering' })
  const isEntering = useRef(false)
  const show = useCallback(
    (next: Session) => {
      // A renewal that failed ends nothing: the access is still valid, and the page can contain edits.
      setSession((now) => (next.at === 'failed' && now.at === 'in' ? now : next))
      if (next.at === 'in') {
        onEnter(next.me.portal)
        around.say({ type: 'portal:entered' })
      }
      if (next.at === 'ended') around.say({ type: 'portal:ended', end: next.end })
    },
    [around, onEnter],
  )
  const begin = useCallback(
    (given: string | undefined): void => {
      isEntering.current = true
      void enter({ server, around, token: given }).then((next) => {
        isEntering.current = false
        show(next)
      })
    },
    [server, around, show],
  )
  useEffect(() => begin(token), [begin, token])
  // The page around sends a token when another person has signed in there, or to renew the access. The customer stays where they are.
  useEffect(
    () =>
      around.listen((message) => {
        if (message.type === 'portal:token' && message.token !== null && !isEntering.current) begin(message.token)
      }),
    [around, begin],
  )
  useRenewal(session, () => around.say({ type: 'portal:token-wanted' }))
  const again = (): void => {
    setSession({ at: 'entering' })
    begin(undefined)
  }
  return { session, end: show, again }
}

function useRenewal(session: Session, ask: () => void): void {
  const latest = useRef(ask)
  useEffect(() => {
    latest.current = ask
  })
  const until = session.at === 'in' ? session.me.expires_at : undefined
  useEffect(() => {
    if (until === undefined) return
    const delay = Math.max(DELAY_MS_MIN, Date.parse(until) - Date.now() - AHEAD_MS)
    const timer = setTimeout(() => latest.current(), Math.min(delay, DELAY_MS_MAX))
    return () => clearTimeout(timer)
  }, [until])
}
