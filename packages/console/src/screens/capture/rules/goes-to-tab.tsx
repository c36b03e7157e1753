import { destinationLight } from '@postroad/contract/lights'
import { ArrowRight } from 'lucide-react'
import type { ReactElement } from 'react'
import { To } from '../../../data/go.tsx'
import { useAllDestinations, type Rule } from '../../../data/lists.ts'
import { ButtonLink } from '../../../parts/button-link.tsx'
import { conditionText } from '../../../parts/condition-draft.ts'
import { Light } from '../../../ui/glyph.tsx'
import { Empty, Loading, Refused } from '../../../ui/states.tsx'

/** The destinations of the records of a rule: they choose by dataset and by their own conditions. */
export function GoesToTab({ rule: { dataset } }: { readonly rule: Rule }): ReactElement {
  const { data, error, refetch } = useAllDestinations()
  if (data === undefined)
    return error === null ? <Loading rows={3} height={48} /> : <Refused error={error} again={refetch} />
  const taking = data
    .filter(({ datasets }) => datasets === null || datasets.includes(dataset))
    .map((destination) => ({ ...destination, light: destinationLight(destination) }))
  if (taking.length === 0) {
    return (
      <Empty
        title="No destination receives these records"
        actions={<ButtonLink screen="destinations">Destinations</ButtonLink>}
      >
        They are stored in <code className="mono text-data">{dataset}</code>. A destination receives them if it selects
        all datasets or this one.
      </Empty>
    )
  }
  return (
    <>
      <p className="border-b border-line/55 px-5 py-2.5 text-ink-3">
        Each destination receives <code className="mono text-data">{dataset}</code> only if its own conditions match.
      </p>
      <ul aria-label="Destinations">
        {taking.map(({ light, id, name, url, enabled, datasets, conditions }) => (
          <li key={id} className="border-b border-line/55">
            <To
              screen="destinations"
              search={{ sel: id }}
              className="grid min-h-12 grid-cols-[14px_minmax(0,1fr)_auto_16px] items-center gap-3 px-5 py-1.5 outline-offset-[-2px] hover:bg-hover"
            >
              <Light of={light} />
              <span className="min-w-0">
                <b className="block truncate leading-4 font-strong">{name}</b>
                <span className="mono block truncate text-label leading-[14px] text-ink-3">
                  {conditions.length === 0 ? url : `when ${conditions.map(conditionText).join(' and ')}`}
                </span>
              </span>
              <span className="text-ink-3">
                {!enabled || light.tone === 'fail'
                  ? `${light.word}: deliveries wait`
                  : datasets === null
                    ? 'receives all datasets'
                    : 'selects this dataset'}
              </span>
              <ArrowRight className="size-3.5 text-ink-2" strokeWidth={1.5} aria-hidden />
            </To>
          </li>
        ))}
      </ul>
    </>
  )
}
