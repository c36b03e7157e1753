import { useEffect, useLayoutEffect, useRef, useState, type ReactElement, type RefObject } from 'react'
import { Choice } from '../../../parts/choice.tsx'
import type { Looks } from './draft.ts'

const THEMES = [
  { id: 'light', label: 'Light' },
  { id: 'dark', label: 'Dark' },
] as const
const WINDOWS = [
  { id: 'wide', label: 'Wide', width: 920 },
  { id: 'phone', label: 'Phone', width: 390 },
] as const
const HEIGHT_PX = 620

type Theme = (typeof THEMES)[number]['id']
type Size = (typeof WINDOWS)[number]['id']

/** The page of a portal with samples, as customers would see it with these looks. */
export function Preview({ name, looks }: { readonly name: string; readonly looks: Looks }): ReactElement {
  const [chosen, setTheme] = useState<Theme>('light')
  const [size, setSize] = useState<Size>('wide')
  const around = useRef<HTMLDivElement>(null)
  const frame = useRef<HTMLIFrameElement>(null)
  const room = useRoom(around)
  const theme = looks.mode === 'auto' ? chosen : looks.mode
  usePreview(frame, { name, looks, theme })
  const width = WINDOWS.find(({ id }) => id === size)?.width ?? 0
  const scale = Math.min(1, room / width)
  return (
    <section aria-label="Preview" className="sticky top-0">
      <div className="flex flex-wrap items-end gap-x-4">
        <Choice label="Preview" of={WINDOWS} at={size} go={setSize} />
        {looks.mode === 'auto' && <Choice label="Preview theme" of={THEMES} at={chosen} go={setTheme} />}
      </div>
      <div ref={around} className="overflow-hidden" style={{ height: HEIGHT_PX * scale }}>
        <iframe
          ref={frame}
          title="Portal preview"
          src="/portal/preview"
          // oxlint-disable-next-line react/iframe-missing-sandbox -- our own page: it needs its scripts and its origin, and may open no window
          sandbox="allow-scripts allow-same-origin allow-forms"
          className="origin-top-left rounded-page border border-line-2 bg-surface"
          style={{ width, height: HEIGHT_PX, transform: `scale(${scale})` }}
        />
      </div>
      <p className="mt-2 text-data text-ink-3">The preview shows sample destinations and deliveries.</p>
    </section>
  )
}

/** The width that is available for the preview. */
function useRoom(element: RefObject<HTMLElement | null>): number {
  const [room, setRoom] = useState(0)
  useLayoutEffect(() => {
    const { current } = element
    if (current === null) return
    const measure = (): void => setRoom(current.clientWidth)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(current)
    return () => observer.disconnect()
  }, [element])
  return room
}

type Shown = { readonly name: string; readonly looks: Looks; readonly theme: Theme }

/** Sends the looks to the frame when it is ready, and after each change. */
function usePreview(frame: RefObject<HTMLIFrameElement | null>, { name, looks, theme }: Shown): void {
  useEffect(() => {
    const show = (): void =>
      frame.current?.contentWindow?.postMessage(
        { type: 'portal:preview', looks: { name, branding: looks }, theme },
        location.origin,
      )
    const hear = ({ source, data }: MessageEvent<unknown>): void => {
      if (source !== frame.current?.contentWindow || source === null) return
      if (typeof data === 'object' && data !== null && 'type' in data && data.type === 'portal:ready') show()
    }
    show()
    addEventListener('message', hear)
    return () => removeEventListener('message', hear)
  }, [frame, name, looks, theme])
}
