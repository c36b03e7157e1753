import type { ReactElement } from 'react'
import { Part } from '../../../parts/detail.tsx'
import { Glyph, type Tone } from '../../../ui/glyph.tsx'
import type { Plan } from './plan.ts'

type Item = { readonly kind: string; readonly identity: string }

/** `record_view` as people write it; an endpoint is called webhook in the API. */
export function kindText(kind: string): string {
  return kind === 'webhook' ? 'endpoint' : kind.replaceAll('_', ' ')
}

/** A list of things of the plan. A long list that matters less is folded. */
export function Items({
  title,
  tone,
  of,
  isFolded = false,
}: {
  readonly title: string
  readonly tone: Tone
  readonly of: readonly Item[]
  readonly isFolded?: boolean
}): ReactElement | null {
  if (of.length === 0) return null
  const list = (
    <ul aria-label={title}>
      {of.map(({ kind, identity }) => (
        <li key={`${kind} ${identity}`} className="border-b border-line/55 last:border-b-0">
          <Line tone={tone} kind={kind} identity={identity} />
        </li>
      ))}
    </ul>
  )
  if (!isFolded) return <Part title={`${title} ${of.length}`}>{list}</Part>
  return (
    <details className="border-b border-line px-5 py-3">
      <summary className="flex min-h-6 items-center font-control">
        {title} <span className="mono ml-2 text-label text-ink-3">{of.length}</span>
      </summary>
      <div className="pt-2">{list}</div>
    </details>
  )
}

function Line({ tone, kind, identity }: Item & { readonly tone: Tone }): ReactElement {
  return (
    <div className="flex min-h-7 items-center gap-2.5">
      <Glyph tone={tone} label="" />
      <span className="w-28 flex-none text-ink-3">{kindText(kind)}</span>
      <b className="min-w-0 font-strong break-words">{identity}</b>
    </div>
  )
}

/** The changed things, each member before and after. */
export function Changes({ of }: { readonly of: Plan['change'] }): ReactElement | null {
  if (of.length === 0) return null
  return (
    <Part title={`Changes ${of.length}`}>
      {of.map(({ kind, identity, changes }) => (
        <section key={`${kind} ${identity}`} aria-label={`${kindText(kind)} ${identity}`} className="mb-4 last:mb-0">
          <Line tone="retry" kind={kind} identity={identity} />
          <table className="w-full table-fixed border-collapse text-left">
            <thead className="sr-only">
              <tr>
                <th>Member</th>
                <th>Now</th>
                <th>After</th>
              </tr>
            </thead>
            <tbody>
              {changes.map(({ member, from, to }) => (
                <tr key={member} className="border-b border-line/55 align-top last:border-b-0">
                  <th scope="row" className="w-[26%] py-1 pr-3 pl-[22px] font-control break-words">
                    {member}
                  </th>
                  <td className="mono w-[37%] py-1 pr-3 text-data break-words text-ink-3">
                    <del className="decoration-ink-4">{shown(from)}</del>
                  </td>
                  <td className="mono py-1 text-data break-words">
                    <ins className="no-underline">{shown(to)}</ins>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ))}
    </Part>
  )
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
