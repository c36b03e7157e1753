import { useEffect, useMemo, useState, type ReactElement } from 'react'
import type { PageAround } from '../data/page-around.ts'
import { stayInPlace } from '../data/route.ts'
import type { Branding, Me } from '../data/server.ts'
import { Frame } from '../frame/frame.tsx'
import { Inside } from '../frame/inside.tsx'
import { applyLooks } from '../looks/apply.ts'
import { sampleMe, sampleServer } from './sample.ts'

type Looks = { readonly name: string; readonly branding: Branding; readonly theme: 'light' | 'dark' }

/** The portal as the console shows it beside its form: with the looks that the form sends, and with samples instead of a server. */
export function Preview({ around }: { readonly around: PageAround }): ReactElement | null {
  const [looks, setLooks] = useState<Looks | undefined>()
  useEffect(() => {
    stayInPlace()
    const stop = around.listen((message) => {
      if (message.type === 'portal:preview') setLooks(looksIn(message.looks, message.theme))
    })
    around.say({ type: 'portal:ready' })
    return stop
  }, [around])
  useEffect(() => {
    if (looks !== undefined) applyLooks(looks.branding, looks.theme)
  }, [looks])
  const me = useMemo<Me>(() => sampleMe(looks?.branding), [looks?.branding])
  const server = useMemo(() => sampleServer(me), [me])
  if (looks === undefined) return null
  const { branding, name, theme } = looks
  return (
    <Frame
      looks={{ branding, name: branding.name ?? name }}
      theming={{ theme, choice: theme, choose: undefined }}
      session={{ at: 'in', me }}
      onLeave={undefined}
    >
      <Inside me={me} server={server} onEnd={() => undefined} />
    </Frame>
  )
}

/** The console is of the same version and the same origin, so its message has this form. */
function looksIn(looks: unknown, theme: 'light' | 'dark'): Looks {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the console is of the same version
  const { name, branding } = looks as Pick<Looks, 'name' | 'branding'>
  return { name, branding, theme }
}
