import { ServiceError } from '@postroad/sdk/service-error'
import { useCallback, useEffect, useState, type ReactElement } from 'react'
import type { PageAround } from '../data/page-around.ts'
import type { Branding, BrandingAnswer, Me } from '../data/server.ts'
import type { Entry } from '../data/session.ts'
import { applyLooks } from '../looks/apply.ts'
import { useTheme, type ThemeChoice } from '../looks/theme.ts'
import { Ended } from './ended.tsx'
import { Frame, type Shown } from './frame.tsx'
import { Inside } from './inside.tsx'
import { useSession } from './use-session.ts'

const PLAIN: Branding = {
  name: null,
  logo: null,
  logo_dark: null,
  accent: null,
  mode: 'auto',
  radius: 8,
  font: 'system',
  support_url: null,
  return_url: null,
  powered_by: false,
}

/** The whole page: it enters the portal, and then shows it, until the access ends. */
export function App({ entry }: { readonly entry: Entry }): ReactElement {
  const { server, around } = entry
  const [looks, setLooks] = useState<Shown>({ branding: PLAIN, name: undefined })
  const [isUnknown, setUnknown] = useState(false)
  const show = useCallback((portal: Me['portal'] | BrandingAnswer['portal']) => setLooks(looksOf(portal)), [])
  const { session, end, again } = useSession(entry, show)
  const theming = useTheme(looks.branding.mode, useAskedTheme(around))
  useEffect(() => applyLooks(looks.branding, theming.theme), [looks.branding, theming.theme])
  // The looks are public: a customer whose link has ended sees whose page it is.
  useEffect(() => {
    const leaving = new AbortController()
    server.branding(leaving.signal).then(
      ({ portal }) => show(portal),
      (error: unknown) => setUnknown(error instanceof ServiceError && error.status === 404),
    )
    return () => leaving.abort()
  }, [server, show])
  useHeight(around)
  const leave = async (): Promise<void> => {
    await server.leave().catch(() => undefined)
    end({ at: 'ended', end: 'left' })
  }
  return (
    <Frame looks={looks} theming={theming} session={session} onLeave={around.isFramed ? undefined : () => void leave()}>
      {session.at === 'in' ? (
        <Inside key={session.me.customer.id} me={session.me} server={server} onEnd={end} />
      ) : (
        <Ended session={isUnknown ? { at: 'ended', end: 'unknown_portal' } : session} looks={looks} again={again} />
      )}
    </Frame>
  )
}

function looksOf({ name, branding }: { readonly name: string; readonly branding: Branding }): Shown {
  return { branding, name: branding.name ?? name }
}

/** The theme for which the page around asks. */
function useAskedTheme(around: PageAround): ThemeChoice | undefined {
  const [asked, setAsked] = useState<ThemeChoice | undefined>()
  useEffect(
    () =>
      around.listen((message) => {
        if (message.type === 'portal:theme') setAsked(message.theme)
      }),
    [around],
  )
  return asked
}

/** Reports the height of the content, so that a frame needs no second scroll bar. */
function useHeight(around: PageAround): void {
  useEffect(() => {
    if (!around.isFramed) return
    const root = document.querySelector('#root')
    if (root === null) return
    const report = (): void => around.say({ type: 'portal:height', height: Math.ceil(root.scrollHeight) })
    const observer = new ResizeObserver(report)
    observer.observe(root)
    around.say({ type: 'portal:ready' })
    return () => observer.disconnect()
  }, [around])
}
