import { routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { usePlace, useRefusal } from '../../../data/place.ts'
import { Part } from '../../../parts/detail.tsx'
import { CopyAs } from '../../../parts/copy-as.tsx'
import { counted } from '../../../parts/text-list.ts'
import { Button } from '../../../ui/button.tsx'
import { Check } from '../../../ui/field.tsx'
import { Loading, Refused, RefusedLine } from '../../../ui/states.tsx'
import type { ConfigFile } from './file.ts'
import type { Config, Outcome, Plan } from './plan.ts'
import { Items, Changes } from './plan-items.tsx'
import { RoutingPart } from './routing-part.tsx'

type Props = {
  readonly file: ConfigFile
  readonly onBack: () => void
  readonly onApplied: (outcome: Outcome) => void
}

/** Compares a file with the project. Nothing changes before the person applies the plan. */
export function PlanView({ file, onBack, onApplied }: Props): ReactElement {
  const [deletes, setDeletes] = useState(false)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the server checks every member of it
  const config = file.config as Config
  const asked = useAsk(['config', 'plan', file.text, deletes], (client, signal) =>
    client.config.plan({ config, delete_missing: deletes }, { signal }),
  )
  const plan = asked.data?.plan
  return (
    <>
      <Part
        title={file.isPasted === true ? 'Plan' : `Plan of ${file.name}`}
        text={plan === undefined ? 'Postroad compares it with the project.' : <Summary of={plan} />}
        beside={<Button onClick={onBack}>Choose another file</Button>}
      >
        <Check
          checked={deletes}
          onChange={({ target }) => setDeletes(target.checked)}
          label={
            <>
              Also delete resources that are not in the file:{' '}
              <span className="text-ink-3">
                endpoints, rules, record views, destinations, workflows and AI triggers of this project
              </span>
            </>
          }
        />
        {plan !== undefined && !plan.empty && (
          <Apply
            key={plan.id}
            plan={plan}
            config={config}
            deletes={deletes}
            onApplied={onApplied}
            again={asked.refetch}
          />
        )}
      </Part>
      {plan === undefined ? (
        asked.error === null ? (
          <Loading rows={6} />
        ) : (
          <div className="min-h-60">
            <Refused error={asked.error} again={asked.refetch} />
          </div>
        )
      ) : (
        <>
          <Items title="Creates" tone="ok" of={plan.create} />
          <Changes of={plan.change} />
          <Items title="Deletes" tone="fail" of={plan.delete} />
          {plan.routing !== null && <RoutingPart of={plan.routing} />}
          <Items title="Not in the file, not deleted" tone="none" of={plan.not_in_config} isFolded />
          <Items title="Unchanged" tone="none" of={plan.unchanged} isFolded />
          <Items
            title="Never exported: resources with credentials, and dataset settings"
            tone="none"
            of={plan.not_exported.map(({ kind, name }) => ({ kind, identity: name }))}
            isFolded
          />
        </>
      )}
    </>
  )
}

/** "creates 1 resource, changes 2 resources, and deletes 1 resource". */
const LIST = new Intl.ListFormat('en-US')

function Summary({ of }: { readonly of: Plan }): ReactElement {
  if (of.empty) return <>The project matches the file. There is nothing to do.</>
  const changes = [
    ['creates', of.create.length],
    ['changes', of.change.length],
    ['deletes', of.delete.length],
  ] as const
  const parts = changes.filter(([, count]) => count > 0).map(([verb, count]) => `${verb} ${counted(count, 'resource')}`)
  const others = of.not_in_config.length
  const lacking = lackingIn(of)
  return (
    <>
      The plan {parts.length === 0 ? 'changes nothing' : LIST.format(parts)}. Everything else stays
      {others > 0 && `, including ${counted(others, 'resource')} that ${others === 1 ? 'is' : 'are'} not in the file`}.
      {lacking.length > 0 && ` After that, ${namesText(lacking)} ${lacking.length === 1 ? 'needs' : 'need'} a secret.`}
    </>
  )
}

const NAMES_MAX = 3

/** The resources that need a secret. */
function lackingIn({ needs_verification_secret, needs_secrets }: Plan): readonly string[] {
  return [...new Set([...needs_verification_secret, ...needs_secrets.map(({ identity }) => identity)])]
}

function namesText(names: readonly string[]): string {
  const more = names.length - NAMES_MAX
  return `${names.slice(0, NAMES_MAX).join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}

function Apply({
  plan,
  config,
  deletes,
  onApplied,
  again,
}: {
  readonly plan: Plan
  readonly config: Config
  readonly deletes: boolean
  readonly onApplied: (outcome: Outcome) => void
  readonly again: () => unknown
}): ReactElement {
  const { project } = usePlace()
  const refusal = useRefusal(routes.config.apply)
  const apply = useChange(
    ['config', 'webhooks', 'rules', 'destinations', 'recordViews', 'datasets', 'workflows', 'sources'],
    // The next read of the plan removes this button, so the result is part of the change.
    async (client) =>
      onApplied((await client.config.apply({ config, delete_missing: deletes, plan: plan.id })).applied),
  )
  const count = plan.create.length + plan.change.length + plan.delete.length
  return (
    <div className="mt-3 flex flex-col gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Button
          kind={plan.delete.length > 0 ? 'danger' : 'primary'}
          disabled={refusal !== undefined || apply.isPending || count === 0}
          title={refusal ?? 'Applies all changes in one transaction, or none'}
          onClick={() => apply.mutate(undefined)}
        >
          {count === 0 ? 'Nothing to apply' : `Apply ${counted(count, 'change')}`}
        </Button>
        <CopyAs
          className="mr-auto"
          call={{
            route: routes.config.apply,
            body: { config, delete_missing: deletes, plan: plan.id },
            cli: `config apply postroad.json --project ${project.slug}${deletes ? ' --delete' : ''}`,
          }}
        />
      </div>
      {refusal !== undefined && <p className="text-ink-3">{refusal}</p>}
      <RefusedLine error={apply.error} />
      {apply.error !== null && (
        <Button className="self-start" onClick={() => void again()}>
          Plan again
        </Button>
      )}
      {count === 0 && <Waiting of={plan} />}
    </div>
  )
}

/** Nothing differs, but secrets are still missing. */
function Waiting({ of }: { readonly of: Plan }): ReactElement {
  const lacking = lackingIn(of)
  return (
    <p className="text-ink-2">
      The project matches the file, but {namesText(lacking)} still {lacking.length === 1 ? 'needs' : 'need'} a secret.
    </p>
  )
}
