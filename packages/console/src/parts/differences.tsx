import type { ReactElement } from 'react'
import { valueText, type Difference } from './audit-sentence.ts'

/** The changed members of an object, with their values before and after. */
export function Differences({ of }: { readonly of: readonly Difference[] }): ReactElement {
  return (
    <table className="w-full border-collapse text-left">
      <thead>
        <tr className="text-meta text-ink-3">
          <th className="w-[22%] py-1 pr-3 font-text">Member</th>
          <th className="w-[39%] py-1 pr-3 font-text">Before</th>
          <th className="py-1 font-text">After</th>
        </tr>
      </thead>
      <tbody>
        {of.map(({ member, before, after }) => (
          <tr key={member} className="border-t border-line/55 align-top">
            <th scope="row" className="py-1.5 pr-3 font-control break-words">
              {member.replaceAll('_', ' ')}
            </th>
            <td className="mono py-1.5 pr-3 text-data break-words text-ink-3">
              <del className="decoration-ink-4">{valueText(before)}</del>
            </td>
            <td className="mono py-1.5 text-data break-words">
              <ins className="no-underline">{valueText(after)}</ins>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
