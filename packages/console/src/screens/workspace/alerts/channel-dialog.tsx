import { ALERT_CHANNELS, type AlertChannel, type RouteRequest, type Routes } from '@postroad/contract'
import { useState, type ReactElement } from 'react'
import { useChange } from '../../../data/ask.ts'
import { CreateWindow } from '../../../parts/create-window.tsx'
import { listIn } from '../../../parts/text-list.ts'
import { Field, Select } from '../../../ui/field.tsx'
import { useToast } from '../../../ui/toast.tsx'

type Body = RouteRequest<Routes['alerts']['createChannel']>

type Asks = {
  readonly name: string
  readonly url?: string
  readonly urlHint?: string
  readonly secret?: string
  readonly isSecretOptional?: true
}

/** The fields of each channel. */
const CHANNELS: Readonly<Record<AlertChannel, Asks>> = {
  slack: {
    name: 'Slack',
    url: 'https://hooks.slack.com/services/…',
    urlHint: 'The URL of an incoming webhook.',
  },
  discord: {
    name: 'Discord',
    url: 'https://discord.com/api/webhooks/…',
    urlHint: 'The URL of a webhook of the channel.',
  },
  teams: {
    name: 'Microsoft Teams',
    url: 'https://…logic.azure.com/workflows/…',
    urlHint: 'The URL of a workflow that posts when it receives a request.',
  },
  pagerduty: { name: 'PagerDuty', secret: 'Integration key' },
  opsgenie: { name: 'Opsgenie', secret: 'API key' },
  email: {
    name: 'Email',
    url: 'smtp://mail.example.com:587',
    urlHint: 'The mail server.',
    secret: 'Password',
    isSecretOptional: true,
  },
  webhook: { name: 'Webhook', url: 'https://…', urlHint: 'It gets a signed JSON envelope.' },
}

type Draft = {
  readonly channel: AlertChannel
  readonly url: string
  readonly secret: string
  readonly from: string
  readonly to: string
  readonly username: string
}

function bodyOf({ channel, url, secret, from, to, username }: Draft): { body: Body } | { problem: string } {
  const asks = CHANNELS[channel]
  if (asks.url !== undefined && url.trim() === '') return { problem: 'Enter the URL.' }
  if (asks.secret !== undefined && asks.isSecretOptional !== true && secret === '')
    return { problem: `Enter the ${asks.secret}.` }
  if (channel === 'email' && (from.trim() === '' || listIn(to).length === 0))
    return { problem: 'Enter the sender and at least one recipient.' }
  if (username.trim() !== '' && secret === '') return { problem: 'Enter the password of the user.' }
  return {
    body: {
      channel,
      ...(asks.url === undefined ? {} : { url: url.trim() }),
      ...(asks.secret === undefined || secret === '' ? {} : { secret }),
      ...(channel === 'email'
        ? {
            email: {
              from: from.trim(),
              to: [...listIn(to)],
              ...(username.trim() === '' ? {} : { username: username.trim() }),
            },
          }
        : {}),
    },
  }
}

/** Makes a destination that reports alerts, with the template that fits it. */
export function ChannelDialog({ onClose }: { readonly onClose: () => void }): ReactElement {
  const [draft, setDraft] = useState<Draft>({ channel: 'slack', url: '', secret: '', from: '', to: '', username: '' })
  const toast = useToast()
  const create = useChange(['alerts', 'destinations'], (client, body: Body) => client.alerts.createChannel(body))
  const asks = CHANNELS[draft.channel]
  const change = (part: Partial<Draft>): void => setDraft({ ...draft, ...part })
  return (
    <CreateWindow
      title="Add a channel"
      lead="A channel is a destination that gets only the alerts of this project. You find it under Destinations afterwards."
      read={bodyOf(draft)}
      call={(body) => ({ method: 'POST', path: 'alerts/channels', body: { ...body, secret: undefined } })}
      submit={(body) =>
        create.mutate(body, {
          onSuccess: ({ destination }) => {
            toast({ text: `Added ${destination.name}. It gets the next alert.` })
            onClose()
          },
        })
      }
      change={create}
      verb="Add"
      onClose={onClose}
    >
      <Select
        label="Channel"
        value={draft.channel}
        onChange={({ target }) => {
          const channel = ALERT_CHANNELS.find((one) => one === target.value)
          if (channel !== undefined) change({ channel, url: '', secret: '' })
        }}
      >
        {ALERT_CHANNELS.map((channel) => (
          <option key={channel} value={channel}>
            {CHANNELS[channel].name}
          </option>
        ))}
      </Select>
      {asks.url !== undefined && (
        <Field
          label={draft.channel === 'email' ? 'Mail server' : 'URL'}
          hint={asks.urlHint}
          placeholder={asks.url}
          value={draft.url}
          onChange={({ target }) => change({ url: target.value })}
        />
      )}
      {draft.channel === 'email' && (
        <>
          <Field label="From" value={draft.from} onChange={({ target }) => change({ from: target.value })} />
          <Field
            label="To"
            hint="One or more addresses, separated by commas."
            value={draft.to}
            onChange={({ target }) => change({ to: target.value })}
          />
          <Field
            label="User"
            hint="Empty: the server needs no sign-in."
            autoComplete="off"
            value={draft.username}
            onChange={({ target }) => change({ username: target.value })}
          />
        </>
      )}
      {asks.secret !== undefined && (
        <Field
          label={asks.secret}
          type="password"
          autoComplete="new-password"
          value={draft.secret}
          onChange={({ target }) => change({ secret: target.value })}
        />
      )}
    </CreateWindow>
  )
}
