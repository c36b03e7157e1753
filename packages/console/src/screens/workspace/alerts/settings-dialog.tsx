import {
  routes,
  WEEKDAYS,
  type AlertRule,
  type QuietHours,
  type RouteRequest,
  type Routes,
  type Weekday,
} from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useAsk, useChange } from '../../../data/ask.ts'
import { useRefusal } from '../../../data/place.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { Check, Field } from '../../../ui/field.tsx'
import { Loading, Refused } from '../../../ui/states.tsx'
import { useToast } from '../../../ui/toast.tsx'
import { titleOf, type AlertSettings, type AlertTypeInfo } from './words.ts'

type Rule = {
  readonly type: AlertRule['type']
  readonly enabled: boolean
  readonly threshold: string
  readonly critical: string
}
type Draft = { readonly rules: readonly Rule[]; readonly hours: readonly QuietHours[] }

/** The rules of all types, and the quiet hours. */
export function SettingsDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const settings = useAsk(['alerts', 'settings'], (client, signal) => client.alerts.settings({}, { signal }))
  const types = useAsk(['alerts', 'types'], (client, signal) => client.alerts.types({}, { signal }))
  const error = settings.error ?? types.error
  if (settings.data !== undefined && types.data !== undefined)
    return <Form held={settings.data} types={types.data.alert_types} onClose={onClose} />
  return (
    <Dialog open wide onClose={onClose} title="Alert rules" actions={<Button onClick={onClose}>Close</Button>}>
      {error === null ? <Loading rows={6} /> : <Refused error={error} again={settings.refetch} />}
    </Dialog>
  )
}

const text = (value: number | null): string => (value === null ? '' : String(value))

function draftOf({ rules, quiet_hours }: AlertSettings): Draft {
  return {
    rules: rules.map(({ type, enabled, threshold, critical }) => ({
      type,
      enabled,
      threshold: text(threshold),
      critical: text(critical),
    })),
    hours: quiet_hours,
  }
}

const numberIn = (value: string): number | null => (/^\d{1,9}$/.test(value.trim()) ? Number(value) : null)

type Body = RouteRequest<Routes['alerts']['updateSettings']>

function bodyOf({ rules, hours }: Draft, types: readonly AlertTypeInfo[]): { body: Body } | { problem: string } {
  const hasThreshold = new Set(types.filter(({ unit }) => unit !== null).map(({ type }) => type))
  const wrong = rules.find(({ type, threshold }) => hasThreshold.has(type) && numberIn(threshold) === null)
  if (wrong !== undefined) return { problem: `Enter a whole number as the threshold of “${titleOf(wrong.type)}”.` }
  const unnamed = hours.find(({ name, days }) => name.trim() === '' || days.length === 0)
  if (unnamed !== undefined) return { problem: 'Give each of the quiet hours a name and at least one day.' }
  return {
    body: {
      rules: rules.map(({ type, enabled, threshold, critical }) => ({
        type,
        enabled,
        ...(hasThreshold.has(type) ? { threshold: numberIn(threshold), critical: numberIn(critical) } : {}),
      })),
      quiet_hours: [...hours],
    },
  }
}

type FormProps = {
  readonly held: AlertSettings
  readonly types: readonly AlertTypeInfo[]
  readonly onClose: () => void
}

function Form({ held, types, onClose }: FormProps): ReactElement {
  const [draft, setDraft] = useState(() => draftOf(held))
  const refusal = useRefusal(routes.alerts.updateSettings)
  const toast = useToast()
  const save = useChange(['alerts'], (client, body: Body) => client.alerts.updateSettings(body))
  const said = bodyOf(draft, types)
  return (
    <CreateWindow
      wide
      title="Alert rules"
      lead="The value that opens an alert of each type, and the one from which on it is critical. Critical alerts pass quiet hours."
      read={refusal === undefined ? said : { problem: refusal }}
      call={(body) => ({ method: 'PATCH', path: 'alerts/settings', body })}
      submit={(body) =>
        save.mutate(body, {
          onSuccess: () => {
            toast({ text: 'Saved. The change applies from the next look, within 15 seconds.' })
            onClose()
          },
        })
      }
      change={save}
      verb="Save"
      onClose={onClose}
    >
      <ul aria-label="Rules" className="mb-4">
        {draft.rules.map((rule, index) => (
          <RuleRow
            key={rule.type}
            rule={rule}
            info={types.find(({ type }) => type === rule.type)}
            change={(part) => setDraft({ ...draft, rules: draft.rules.with(index, { ...rule, ...part }) })}
          />
        ))}
      </ul>
      <Hours hours={draft.hours} change={(hours) => setDraft({ ...draft, hours })} />
    </CreateWindow>
  )
}

type RuleProps = {
  readonly rule: Rule
  readonly info: AlertTypeInfo | undefined
  readonly change: (part: Partial<Rule>) => void
}

function RuleRow({ rule, info, change }: RuleProps): ReactElement {
  const unit = info?.unit ?? null
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_220px] items-start gap-x-4 border-b border-line py-2 last:border-b-0 max-md:grid-cols-1">
      <div>
        <Check
          label={<b className="font-strong">{titleOf(rule.type)}</b>}
          checked={rule.enabled}
          onChange={({ target }) => change({ enabled: target.checked })}
        />
        <p className="ml-6 text-ink-3">{info?.meaning}</p>
      </div>
      {unit !== null && (
        <div className="grid grid-cols-2 gap-2">
          <Field
            label={`From, ${unit}`}
            inputMode="numeric"
            disabled={!rule.enabled}
            value={rule.threshold}
            onChange={({ target }) => change({ threshold: target.value })}
          />
          <Field
            label="Critical"
            placeholder="never"
            inputMode="numeric"
            disabled={!rule.enabled}
            value={rule.critical}
            onChange={({ target }) => change({ critical: target.value })}
          />
        </div>
      )}
    </li>
  )
}

const DAYS: Readonly<Record<Weekday, string>> = {
  mon: 'Mon',
  tue: 'Tue',
  wed: 'Wed',
  thu: 'Thu',
  fri: 'Fri',
  sat: 'Sat',
  sun: 'Sun',
}

type HoursProps = { readonly hours: readonly QuietHours[]; readonly change: (hours: readonly QuietHours[]) => void }

function Hours({ hours, change }: HoursProps): ReactElement {
  const add = (): void =>
    change([
      ...hours,
      {
        name: hours.length === 0 ? 'Nights' : `Quiet hours ${hours.length + 1}`,
        days: [...WEEKDAYS],
        from: '22:00',
        to: '07:00',
        time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      },
    ])
  return (
    <section aria-label="Quiet hours">
      <div className="mb-2 flex items-center gap-3">
        <h3 className="font-title">Quiet hours</h3>
        <Button onClick={add} className="ml-auto">
          Add quiet hours
        </Button>
      </div>
      {hours.length === 0 && <p className="text-ink-3">None: alerts are sent at any time.</p>}
      {hours.map((one, index) => (
        // oxlint-disable-next-line react/no-array-index-key -- the name is edited here
        <HoursRow
          key={index}
          of={one}
          change={(next) => change(next === undefined ? hours.toSpliced(index, 1) : hours.with(index, next))}
        />
      ))}
    </section>
  )
}

type OneProps = { readonly of: QuietHours; readonly change: (next: QuietHours | undefined) => void }

function HoursRow({ of, change }: OneProps): ReactElement {
  const set = (part: Partial<QuietHours>): void => change({ ...of, ...part })
  return (
    <fieldset className="mb-3 rounded-page border border-line-2 px-3 pt-3">
      <div className="grid grid-cols-[minmax(0,1fr)_90px_90px_minmax(0,1fr)] gap-2 max-md:grid-cols-2">
        <Field label="Name" value={of.name} onChange={({ target }) => set({ name: target.value })} />
        <Field label="From" type="time" value={of.from} onChange={({ target }) => set({ from: target.value })} />
        <Field label="To" type="time" value={of.to} onChange={({ target }) => set({ to: target.value })} />
        <Field label="Time zone" value={of.time_zone} onChange={({ target }) => set({ time_zone: target.value })} />
      </div>
      <div className="mb-3 flex flex-wrap items-center gap-x-3">
        {WEEKDAYS.map((day) => (
          <Check
            key={day}
            label={DAYS[day]}
            checked={of.days.includes(day)}
            onChange={({ target }) =>
              set({ days: WEEKDAYS.filter((one) => (one === day ? target.checked : of.days.includes(one))) })
            }
          />
        ))}
        <Button className="ml-auto" onClick={() => change(undefined)}>
          Remove
        </Button>
      </div>
    </fieldset>
  )
}
