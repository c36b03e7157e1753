import { useState, type ReactElement } from 'react'
import { useGo } from '../data/go.tsx'
import { Kbd } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Check } from '../ui/field.tsx'
import { singleKeysAreOn, turnSingleKeys, useKeys } from './keys.ts'
import { NAVIGATION_ITEMS } from './navigation.ts'
import { usePalette } from './palette-provider.tsx'
import { toggleTheme } from './theme.ts'

/** The keys that work on every screen, and the sheet that lists all of them. */
export function ShellKeys(): ReactElement {
  const go = useGo()
  const palette = usePalette()
  useKeys({
    'mod k': palette.open,
    '?': () => palette.keys.show(true),
    t: toggleTheme,
    ...Object.fromEntries(NAVIGATION_ITEMS.map(({ screen, key }) => [`g ${key}`, () => go(screen)])),
  })
  return <Sheet open={palette.keys.isShown} onClose={() => palette.keys.show(false)} />
}

const SHEET: readonly { readonly title: string; readonly keys: readonly (readonly [string, string])[] }[] = [
  {
    title: 'Everywhere',
    keys: [
      ['⌘ K', 'search or run'],
      ['?', 'this sheet'],
      ['t', 'light or dark'],
      ...NAVIGATION_ITEMS.map(({ label, key }) => [`g ${key}`, label] as const),
    ],
  },
  {
    title: 'Lists',
    keys: [
      ['j k', 'next, previous'],
      ['/', 'filter'],
      ['s', 'save the view'],
      ['x', 'select'],
      ['shift x', 'select up to here'],
      ['shift r', 'replay the selected'],
      ['=', 'compare the two selected'],
      ['Esc', 'back'],
    ],
  },
  {
    title: 'Live tail',
    keys: [
      ['l', 'live on, off'],
      ['.', 'show newer events'],
    ],
  },
  {
    title: 'An event',
    keys: [
      ['Enter', 'show on the whole page'],
      ['1 … 6', 'tabs'],
      ['r', 'replay'],
      ['e', 'edit and send again'],
      ['c', 'copy as curl'],
      ['y', 'copy the id'],
    ],
  },
]

function Sheet({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }): ReactElement {
  const [on, setOn] = useState(singleKeysAreOn)
  return (
    <Dialog open={open} onClose={onClose} title="Keys" wide>
      <div className="grid grid-cols-2 gap-x-10 gap-y-5 max-md:grid-cols-1">
        {SHEET.map(({ title, keys }) => (
          <section key={title}>
            <h3 className="mb-1.5 font-strong">{title}</h3>
            <dl>
              {keys.map(([key, what]) => (
                <div key={key} className="flex h-7 items-center border-b border-line/55">
                  <dt className="order-2 ml-auto flex gap-1">
                    {key.split(' ').map((one) => (
                      <Kbd key={one}>{one}</Kbd>
                    ))}
                  </dt>
                  <dd className="text-ink-2">{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <div className="mt-4">
        <Check
          checked={on}
          onChange={(event) => {
            turnSingleKeys(event.target.checked)
            setOn(event.target.checked)
          }}
          label="Single keys work. ⌘ K and Escape always do."
        />
      </div>
    </Dialog>
  )
}
