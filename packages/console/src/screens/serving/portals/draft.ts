import type { RouteRequest, Routes } from '@postroad/contract'
import type { Portal } from '../../../data/lists.ts'
import { listIn } from '../../../parts/text-list.ts'

export type Looks = Portal['looks']
type CreateBody = RouteRequest<Routes['portals']['create']>
type UpdateBody = Omit<RouteRequest<Routes['portals']['update']>, 'id'>

/** The settings of a portal besides its looks, in a form. */
export type SettingsDraft = {
  readonly name: string
  readonly slug: string
  /** null: every dataset. */
  readonly datasets: string | null
  readonly serves: Portal['serves']
}

export const NEW_PORTAL: SettingsDraft = { name: '', slug: '', datasets: null, serves: 'many_customers' }

export function draftOf({ name, slug, datasets, serves }: Portal): SettingsDraft {
  return { name, slug, datasets: datasets?.join(', ') ?? null, serves }
}

type Read<Body> = { readonly body: Body } | { readonly problem: string }

/** The request body of a draft, or the sentence about its fault. The server checks the rest. */
export function bodyOf({ name, slug, datasets, serves }: SettingsDraft): Read<CreateBody> {
  const named = datasets === null ? null : listIn(datasets)
  if (named?.length === 0) return { problem: 'Enter at least one dataset, or choose all datasets.' }
  return {
    body: {
      name: name.trim(),
      event_types: named,
      serves,
      ...(slug.trim() === '' ? {} : { slug: slug.trim() }),
    },
  }
}

/** The origins that may embed a portal, one a line. */
export function originsOf(text: string): Read<UpdateBody> {
  const origins = listIn(text)
  const wrong = origins.find((one) => !/^https?:\/\/[^/\s]+$/.test(one))
  return wrong === undefined
    ? { body: { frame_origins: origins } }
    : { problem: `${wrong} is not a valid origin. Enter an origin such as https://app.example.com, without a path.` }
}

const HEX = /^#[0-9a-f]{6}$/i

/** Texts that are empty become null, and the server checks the rest. */
export function looksBody(looks: Looks): Read<UpdateBody> {
  if (looks.accent !== null && !HEX.test(looks.accent))
    return { problem: 'The accent must be a # and six hexadecimal digits, such as #0a7d5a.' }
  return { body: { branding: looks } }
}

/** An empty field is null. */
export function textOrNull(text: string): string | null {
  return text === '' ? null : text
}
