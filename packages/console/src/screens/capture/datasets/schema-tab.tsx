import type { ReactElement } from 'react'
import type { Dataset } from '../../../data/serving-lists.ts'
import { Ago } from '../../../ui/ago.tsx'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Empty, Loading, Refused } from '../../../ui/states.tsx'
import { useSchema, type Schema } from './use-schema.ts'

/** The fields of the records: their types, how often they are present, and when they were seen. */
export function SchemaTab({ dataset: { id, name } }: { readonly dataset: Dataset }): ReactElement {
  const asked = useSchema(id)
  if (asked.data === undefined)
    return asked.error === null ? (
      <Loading rows={8} height={32} />
    ) : (
      <Refused error={asked.error} again={asked.refetch} />
    )
  const { fields, records_read, complete, learned_at } = asked.data.schema
  if (fields.length === 0)
    return (
      <Empty title="No fields yet">
        Postroad learns the fields of {name} from a sample of its records. Send a record to see the fields here.
      </Empty>
    )
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-4 border-b border-line bg-sunken px-5 py-1.5 text-ink-2">
        <span>
          {counted(fields.length, 'field')} in {counted(records_read, 'sampled record')}
        </span>
        <span className="text-ink-3">
          {learned_at === null ? (
            'made from this call'
          ) : (
            <>
              updated <Ago at={learned_at} />
            </>
          )}
        </span>
        <CopyAs call={{ path: `datasets/${id}/schema` }} className="ml-auto" />
      </div>
      {!complete && (
        <p role="status" className="border-b border-line bg-retry-soft px-5 py-1.5 text-retry-text">
          Some fields are missing: there are too many, or their paths are too long.
        </p>
      )}
      <div className="overflow-x-auto" tabIndex={0} role="group" aria-label="Fields">
        <table className="w-full min-w-[560px]">
          <thead>
            <tr className="text-left text-meta text-ink-3">
              <th scope="col" className="h-8 pl-5 font-text">
                Field
              </th>
              <th scope="col" className="px-3 font-text">
                Types
              </th>
              <th scope="col" className="px-3 font-text">
                Present
              </th>
              <th scope="col" className="px-3 font-text">
                First seen
              </th>
              <th scope="col" className="pr-5 pl-3 font-text">
                Last seen
              </th>
            </tr>
          </thead>
          <tbody>
            {fields.map((field) => (
              <FieldRow key={field.path} field={field} />
            ))}
          </tbody>
        </table>
      </div>
    </>
  )
}

function FieldRow({
  field: { path, types, seen, presence, first_seen_at, last_seen_at, gone_at },
}: {
  readonly field: Schema['fields'][number]
}): ReactElement {
  const percent = presence * 100
  return (
    <tr className="border-t border-line/55">
      <th scope="row" className="mono py-1.5 pl-5 text-left text-data font-text break-all text-ink">
        {path}
        {gone_at !== null && (
          <span className="ml-2 rounded-chip bg-retry-soft px-1.5 font-ui text-retry-text">gone</span>
        )}
      </th>
      <td className="px-3 text-data">
        {types.map(({ type, count }, index) => (
          <span key={type}>
            {index > 0 && <span className="text-ink-3">, </span>}
            <span className="mono">{type}</span>
            {types.length > 1 && seen > 0 && <span className="text-ink-3"> {percentText((count / seen) * 100)}</span>}
          </span>
        ))}
      </td>
      <td className="px-3">
        <span className="flex items-center gap-2">
          <span aria-hidden className="max-md:hidden h-1.5 w-14 flex-none overflow-hidden rounded-full bg-press">
            <i className="block h-full rounded-full bg-ok-quiet" style={{ width: `${percent}%` }} />
          </span>
          <span className="mono text-data whitespace-nowrap text-ink-2">{percentText(percent)}</span>
        </span>
      </td>
      <td className="px-3 text-data whitespace-nowrap text-ink-2">
        <Ago at={first_seen_at} />
      </td>
      <td className="pr-5 pl-3 text-data whitespace-nowrap text-ink-2">
        <Ago at={last_seen_at} />
      </td>
    </tr>
  )
}

/** Never 0 % for a field that exists, nor 100 % for a field that is missing once. */
function percentText(percent: number): string {
  if (percent > 0 && percent < 1) return '< 1%'
  if (percent < 100 && percent > 99) return '> 99%'
  return `${Math.round(percent)}%`
}
