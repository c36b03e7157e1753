import { routes } from '@postroad/contract'
import { useState, type FormEvent, type ReactElement } from 'react'
import { useChange } from '../../data/ask.ts'
import { useMay } from '../../data/place.ts'
import { Part, SaveBar } from '../../parts/detail.tsx'
import { Button } from '../../ui/button.tsx'
import { needs, RefusedLine } from '../../ui/states.tsx'
import { useToast } from '../../ui/toast.tsx'
import { bodyOf, draftOfRule, type Rule, type RuleBody, type RuleDraft } from './draft.ts'
import { NameField, ThenFields, WhenFields } from './form.tsx'
import { TryPart } from './try-part.tsx'

/** What a rule takes and what it makes of it, beside what that would do to recent events. Nothing changes until it is saved. */
export function RuleTab({ rule }: { readonly rule: Rule }): ReactElement {
  const [changed, setChanged] = useState<RuleDraft | undefined>()
  const may = useMay(routes.rules.update)
  const toast = useToast()
  const save = useChange(['rules'], (client, body: RuleBody) => client.rules.update({ id: rule.id, ...body }))
  const draft = changed ?? draftOfRule(rule)
  const read = bodyOf(draft)
  const fields = { draft, disabled: !may, change: (part: Partial<RuleDraft>) => setChanged({ ...draft, ...part }) }
  const submit = (event: FormEvent): void => {
    event.preventDefault()
    if (!('body' in read)) return
    save.mutate(read.body, {
      onSuccess: () => {
        setChanged(undefined)
        toast({ text: 'Saved. It counts from the next request on.' })
      },
    })
  }
  return (
    <div className="grid min-h-full grid-cols-[minmax(0,1fr)_minmax(0,360px)] max-xl:grid-cols-1">
      <form onSubmit={submit} aria-label="Rule" className="flex min-w-0 flex-col">
        {!may && <p className="border-b border-line bg-sunken px-5 py-2 text-ink-3">{needs(routes.rules.update.role)}</p>}
        <Part title="When" text="All conditions must hold."><WhenFields {...fields} /></Part>
        <Part title="Then" text="A record is filed. Every rule that matches files one of its own: there is no order, and none hides another."><ThenFields {...fields} /><NameField {...fields} /></Part>
        <div className="flex-1" />
        {changed !== undefined && (
          <SaveBar>
            <div className="mr-auto min-w-0">{'problem' in read ? <p role="alert" className="text-fail">{read.problem}</p> : <RefusedLine error={save.error} />}</div>
            <Button onClick={() => { setChanged(undefined); save.reset() }}>Discard</Button>
            <Button kind="primary" type="submit" disabled={'problem' in read || save.isPending}>Save</Button>
          </SaveBar>
        )}
      </form>
      <section aria-label="Tried" className="min-w-0 border-l border-line bg-sunken px-5 py-5 max-xl:border-t max-xl:border-l-0">
        <h3 className="font-title">What it would do</h3>
        <p className="mb-3 text-ink-3">Nothing is stored or sent by this.</p>
        <TryPart draft={draft} />
      </section>
    </div>
  )
}
