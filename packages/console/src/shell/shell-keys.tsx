import { useState, type ReactElement } from 'react'
import { useGo } from '../data/go.tsx'
import { Kbd } from '../ui/button.tsx'
import { COMMAND_KEY } from '../ui/command-key.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Check } from '../ui/field.tsx'
import { singleKeysAreOn, turnSingleKeys, useKeys } from './keys.ts'
import { NAVIGATION_ITEMS } from './navigation.ts'
import { usePalette } from './palette-provider.tsx'
import { SETTINGS_ITEMS } from './settings.ts'
import { toggleTheme } from './theme.ts'

/** The keys that work on every screen, and the sheet that lists all of them. */
export function ShellKeys(): ReactElement {
  const go = useGo()
  const palette = usePalette()
  useKeys({
    'mod k': palette.open,
    '?': () => palette.keys.show(true),
    t: toggleTheme,
    'g ,': () => go('workspace'),
    ...Object.fromEntries(WITH_KEY.map(({ screen, key }) => [`g ${key}`, () => go(screen)])),
  })
  return <Sheet open={palette.keys.isShown} onClose={() => palette.keys.show(false)} />
}

/** The screens that have a key, in the order of the side bar and of the settings. */
const WITH_KEY: readonly { readonly screen: string; readonly label: string; readonly key: string }[] = [
  ...NAVIGATION_ITEMS,
  ...SETTINGS_ITEMS.flatMap(({ screen, label, key }) => (key === undefined ? [] : [{ screen, label, key }])),
]

const SHEET: readonly { readonly title: string; readonly keys: readonly (readonly [string, string])[] }[] = [
  {
    title: 'Everywhere',
    keys: [
      [`${COMMAND_KEY} K`, 'search or run'],
      ['?', 'this help'],
      ['t', 'switch theme'],
      ['g ,', 'Settings'],
      ...WITH_KEY.map(({ label, key }) => [`g ${key}`, label] as const),
    ],
  },
  {
    title: 'Lists',
    keys: [
      ['n', 'new'],
      ['j k', 'next, previous'],
      ['/', 'filter'],
      ['s', 'save the view'],
      ['x', 'select'],
      ['shift x', 'select up to here'],
      ['shift r', 'replay selected'],
      ['=', 'compare the two selected'],
      ['middle\u00a0click', 'open in a new tab'],
      ['Esc', 'back'],
    ],
  },
  {
    title: 'Live tail',
    keys: [
      ['l', 'turn live on or off'],
      ['.', 'show newer events'],
    ],
  },
  {
    title: 'Event',
    keys: [
      ['Enter', 'show on the whole page'],
      ['1 … 6', 'tabs'],
      ['r', 'replay'],
      ['e', 'edit and send again'],
      ['c', 'copy as curl'],
      ['y', 'copy ID'],
    ],
  },
]

function Sheet({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }): ReactElement {
  const [on, setOn] = useState(singleKeysAreOn)
  return (
    <Dialog open={open} onClose={onClose} title="Keyboard shortcuts" wide>
      <div className="mb-4">
        <Check
          checked={on}
          onChange={(event) => {
            turnSingleKeys(event.target.checked)
            setOn(event.target.checked)
          }}
          label={`Turn on single-key shortcuts. ${COMMAND_KEY} K and Escape always work.`}
        />
      </div>
      <div className="columns-2 gap-x-10 max-md:columns-1">
        {SHEET.map(({ title, keys }) => (
          <section key={title} className="mb-5 break-inside-avoid last:mb-0">
            <h3 className="mb-1.5 font-strong">{title}</h3>
            <dl>
              {keys.map(([key, what]) => (
                <div key={key} className="flex h-[26px] items-center border-b border-line/55">
                  <dt className="order-2 ml-auto flex gap-1">
                    {key.split(' ').map((one) => (
                      <Kbd key={one} alsoOnPhone>
                        {one}
                      </Kbd>
                    ))}
                  </dt>
                  <dd className="text-ink-2">{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
