import { ArrowRight } from 'lucide-react'
import { useState, type ReactElement } from 'react'
import { To } from '../../../../data/go.tsx'
import { Button } from '../../../../ui/button.tsx'
import { Glyph, NONE } from '../../../../ui/glyph.tsx'
import { PARTS, type Flow } from './flows.ts'
import { count, rateText } from './words.ts'

type Props = { readonly flows: readonly Flow[]; readonly minutes: number }

const FIRST = 50
const FIRST_OF_PART = 12

/** Every line as a row, for screen readers and for people who compare numbers. */
export function FlowTable({ flows, minutes }: Props): ReactElement {
  const [isWhole, setWhole] = useState(false)
  const head = 'border-b border-line px-2 py-1.5 text-left text-meta font-control text-ink-3'
  const cell = 'border-b border-line/55 px-2 py-1.5'
  return (
    <div className="overflow-x-auto" role="group" aria-label="Lines of the map" tabIndex={0}>
      <table className="w-full border-collapse">
        <caption className="sr-only">The lines of the map, problems first</caption>
        <thead>
          <tr>
            {['From', 'To', 'Events', 'Rate', 'Attempts', 'Held back now'].map((label) => (
              <th key={label} scope="col" className={head}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {(isWhole ? flows : flows.slice(0, FIRST)).map(({ key, from, to, events, share, held, target }) => (
            <tr key={key} className="hover:bg-hover">
              <th scope="row" className={`${cell} max-w-56 truncate text-left font-text`}>
                {from}
              </th>
              <td className={`${cell} max-w-56 truncate`}>
                <To {...target} className="inline-flex min-h-6 items-center font-strong underline decoration-line-2">
                  {to}
                </To>
              </td>
              <td className={`${cell} mono text-data`}>{events === null ? 'not known' : count(events)}</td>
              <td className={`${cell} mono text-data`}>{events === null ? NONE : rateText(events, minutes)}</td>
              <td className={`${cell} text-fail`}>{share === '' ? NONE : share}</td>
              <td className={`${cell} text-retry-text`}>{held === '' ? NONE : held}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {!isWhole && flows.length > FIRST && (
        <Button onClick={() => setWhole(true)}>{`Show all ${count(flows.length)} lines`}</Button>
      )}
    </div>
  )
}

/** The lines of a narrow window, part by part. */
export function FlowList({ flows, minutes }: Props): ReactElement {
  return (
    <>
      {PARTS.map((part) => (
        <FlowPart key={part} part={part} flows={flows.filter((flow) => flow.part === part)} minutes={minutes} />
      ))}
    </>
  )
}

function FlowPart({ part, flows, minutes }: Props & { readonly part: string }): ReactElement | null {
  const [isWhole, setWhole] = useState(false)
  if (flows.length === 0) return null
  return (
    <section aria-label={part} className="mt-4 first:mt-0">
      <h3 className="mb-1 text-meta text-ink-3">{part}</h3>
      <ul>
        {(isWhole ? flows : flows.slice(0, FIRST_OF_PART)).map((flow) => (
          <FlowItem key={flow.key} flow={flow} minutes={minutes} />
        ))}
      </ul>
      {!isWhole && flows.length > FIRST_OF_PART && (
        <Button onClick={() => setWhole(true)}>{`Show all ${count(flows.length)}`}</Button>
      )}
    </section>
  )
}

function FlowItem({ flow, minutes }: { readonly flow: Flow; readonly minutes: number }): ReactElement {
  const { from, to, events, share, held, target } = flow
  const trouble = [share, held === '' ? '' : `held back: ${held}`].filter((text) => text !== '').join(' · ')
  const tone =
    held !== '' || share.startsWith('100%') ? 'fail' : share === '' ? ((events ?? 0) > 0 ? 'ok' : 'none') : 'retry'
  return (
    <li>
      <To {...target} className="block border-b border-line/55 py-2 hover:bg-hover">
        <span className="flex items-center gap-2">
          <Glyph tone={tone} label="" />
          <span className="min-w-0 truncate font-strong">{from}</span>
          <ArrowRight className="size-3 flex-none text-ink-3" aria-label="to" />
          <span className="min-w-0 truncate font-strong">{to}</span>
          <span className="mono ml-auto pl-2 text-data whitespace-nowrap text-ink-2">
            {events === null ? 'not known' : rateText(events, minutes)}
          </span>
        </span>
        {trouble !== '' && (
          <span className={`block truncate pl-5 text-meta ${held === '' ? 'text-retry-text' : 'text-fail'}`}>
            {trouble}
          </span>
        )}
      </To>
    </li>
  )
}
