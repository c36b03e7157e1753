import { routes, type RouteAnswer, type Routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { CopyMeta, Facts } from '../../../parts/detail.tsx'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Field } from '../../../ui/field.tsx'
import { RefusedLine } from '../../../ui/states.tsx'
import { Time } from '../../../ui/time.tsx'

type Verification = RouteAnswer<Routes['audit']['verify']>
const FORM = 'verify-audit'
const HASH = /^[0-9a-f]{64}$/

/** Reads the whole log and checks its chain, against a hash that the person recorded earlier if there is one. */
export function VerifyDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const [hash, setHash] = useState('')
  const verify = useChange([], async (client, recorded: string) => {
    const known = recorded === '' ? {} : { hash: recorded }
    let answer = await client.audit.verify(known)
    // A long log takes several requests.
    for (let cursor = answer.next_cursor; cursor !== null; cursor = answer.next_cursor)
      // oxlint-disable-next-line no-await-in-loop -- each part starts where the previous one ended
      answer = await client.audit.verify({ ...known, cursor })
    return answer
  })
  const typed = hash.trim().toLowerCase()
  const isWrong = typed !== '' && !HASH.test(typed)
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!isWrong) verify.mutate(typed)
  }
  return (
    <Dialog
      open
      wide
      onClose={onClose}
      title="Verify audit log"
      lead="Reads every row of the audit log and checks that each row continues the hash chain."
      actions={
        <>
          <CopyAs
            className="mr-auto"
            call={{
              route: routes.audit.verify,
              query: { hash: typed },
            }}
          />
          <Button onClick={onClose}>Close</Button>
          <Button kind="primary" type="submit" form={FORM} disabled={isWrong || verify.isPending}>
            {verify.isPending ? 'Verifying…' : verify.data === undefined ? 'Verify' : 'Verify again'}
          </Button>
        </>
      }
    >
      <form id={FORM} onSubmit={submit}>
        <Field
          label="Recorded hash"
          className="mono"
          autoComplete="off"
          spellCheck={false}
          value={hash}
          onChange={({ target }) => setHash(target.value)}
          hint={
            isWrong
              ? 'A hash has 64 hexadecimal digits.'
              : 'Optional. A hash that you recorded from an earlier result. The check then also detects a database that was restored to an older state.'
          }
        />
        <RefusedLine error={verify.error} />
      </form>
      {verify.data !== undefined && <Result of={verify.data} />}
    </Dialog>
  )
}

function Result({ of: { ok, count, removed, oldest, newest, problem } }: { readonly of: Verification }): ReactElement {
  return (
    <div role="status">
      <p className={`mb-3 rounded-field px-3 py-2 ${ok ? 'bg-ok-soft text-ink' : 'bg-fail-soft text-fail'}`}>
        <b className="font-strong">{ok ? 'The log is intact.' : 'The log is not intact.'}</b>{' '}
        {problem === null ? `${counted(count, 'row')} match.` : problem.text}
      </p>
      <Facts
        of={[
          ...(ok ? [] : [['Intact rows', count.toLocaleString('en')] as const]),
          ...(removed === 0 ? [] : [['Removed', `${counted(removed, 'older row')} with expired retention`] as const]),
          ...(oldest === null ? [] : [['Oldest', <Time key="oldest" at={oldest.at} />] as const]),
          ...(newest === null
            ? []
            : ([
                ['Newest', <Time key="newest" at={newest.at} />],
                ['Hash', <CopyMeta key="hash" text={newest.hash} label="Copy the hash of the newest row" />],
              ] as const)),
          ...(problem === null || problem.id === null
            ? []
            : [['First mismatch', <CopyMeta key="misfit" text={problem.id} label="Copy ID" />] as const]),
        ]}
      />
      {newest !== null && (
        <p className="text-ink-3">
          Store this hash outside Postroad. A later check against it proves that no row up to this one has changed.
        </p>
      )}
    </div>
  )
}
