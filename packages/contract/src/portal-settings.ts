import { z } from 'zod'
import { LIMITS } from './limits.ts'
import { DatasetName, Text } from './list.ts'

/** The settings of a customer portal: its looks, the datasets that it exposes, and the pages that may embed it. */

const HttpsUrl = Text.max(LIMITS.portalUrlCharsMax).refine(
  (text) => URL.parse(text)?.protocol === 'https:',
  'must be a complete https URL, such as https://example.com/logo.svg',
)
const LOGO_DATA = /^data:image\/(?:png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/
const Logo = z
  .string()
  .max(LIMITS.portalLogoCharsMax, `A logo has at most ${LIMITS.portalLogoCharsMax} characters.`)
  .refine(
    (text) => LOGO_DATA.test(text) || URL.parse(text)?.protocol === 'https:',
    'must be an https URL of an image, or a data: URL with base64 of a PNG, JPEG, WebP or SVG',
  )
  .nullable()
const PageUrl = z
  .union([HttpsUrl, Text.max(LIMITS.portalUrlCharsMax).regex(/^mailto:[^\s@]+@[^\s@]+$/)], {
    error: 'must be a complete https URL, or mailto: with an address',
  })
  .nullable()

const LOOKS = {
  name: Text.trim().min(1).max(LIMITS.nameCharsMax).nullable(),
  logo: Logo,
  logo_dark: Logo,
  accent: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #0a7d5a')
    .nullable(),
  mode: z.enum(['light', 'dark', 'auto']),
  radius: z.int().min(0).max(12),
  font: z.enum(['system', 'sans', 'serif']),
  support_url: PageUrl,
  return_url: HttpsUrl.nullable(),
  powered_by: z.boolean(),
}

/** The looks as stored and shown. Every member has a value. */
export const PortalBranding = z.object({
  name: LOOKS.name.describe('The name that customers see; null: the name of the portal.'),
  logo: LOOKS.logo.describe('An https URL, or a data: URL of an image.'),
  logo_dark: LOOKS.logo_dark.describe('The logo on a dark page; null: the same logo.'),
  accent: LOOKS.accent.describe('The color of buttons and links. The page adapts it where its contrast is too low.'),
  mode: LOOKS.mode,
  radius: LOOKS.radius.describe('The radius of corners in pixels, 0 to 12.'),
  font: LOOKS.font,
  support_url: LOOKS.support_url.describe('Where a customer finds help: an https URL, or mailto: with an address.'),
  return_url: LOOKS.return_url.describe('The page of your product to which a customer returns when the session ended.'),
  powered_by: LOOKS.powered_by.describe('Whether the page names Postroad.'),
})
export type PortalBranding = z.infer<typeof PortalBranding>

const BrandingObject = z.strictObject({
  name: LOOKS.name.default(null),
  logo: LOOKS.logo.default(null),
  logo_dark: LOOKS.logo_dark.default(null),
  accent: LOOKS.accent.default(null),
  mode: LOOKS.mode.default('auto'),
  radius: LOOKS.radius.default(8),
  font: LOOKS.font.default('system'),
  support_url: LOOKS.support_url.default(null),
  return_url: LOOKS.return_url.default(null),
  powered_by: LOOKS.powered_by.default(true),
})

/** The JSON value of a text in a request; the text itself when it is not JSON. */
const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** In requests: an object, or the JSON text that responses have. Members that are left out get their defaults. */
export const PortalBrandingSetting = z
  .preprocess((sent) => (typeof sent === 'string' ? jsonIn(sent) : sent), BrandingObject)
  .describe(
    'The looks of the portal: an object, or the JSON text that `branding` has in responses. It replaces all of them: a member that is left out gets its default.',
  )

const NamesOrAll = z
  .array(DatasetName, 'The event types are a list of dataset names, or null for every dataset.')
  .min(1, 'Name at least one dataset, or send null for every dataset.')
  .max(LIMITS.portalEventTypesMax, `Name at most ${LIMITS.portalEventTypesMax} datasets, or send null for all.`)
  .nullable()

/** In requests: a list, null, the JSON text that responses have, or names separated by commas. */
export const PortalEventTypesSetting = z
  .preprocess((sent) => (typeof sent === 'string' ? namesIn(sent) : sent), NamesOrAll)
  .describe(
    'The datasets that the portal exposes to customers: a list of names, or null for all datasets in the project, including future ones.',
  )

function namesIn(text: string): unknown {
  const trimmed = text.trim()
  if (trimmed === '' || trimmed === '*') return null
  const read = jsonIn(trimmed)
  return typeof read === 'string' ? trimmed.split(',').map((name) => name.trim()) : read
}

/** The datasets that one destination of a customer receives. */
export const PortalSubscription = NamesOrAll.describe(
  'The event types that it receives; null: all that the portal exposes.',
)

/** The contract shows 1 and 0; requests may also send a boolean. */
export const PortalEnabled = z
  .union([z.boolean(), z.literal(0), z.literal(1)], { error: 'must be true or false' })
  .transform((sent) => sent === true || sent === 1)
  .describe(
    'Whether customers can use the portal. Turning it off ends all sessions for good; tokens work again when it is on. Deliveries continue.',
  )

const HOST = String.raw`(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?`
const FRAME_ORIGIN = new RegExp(
  String.raw`^(?:https:\/\/(?:\*\.)?${HOST}|http:\/\/(?:localhost|127\.0\.0\.1))(?::\d{1,5})?$`,
)

/** The value of `frame-ancestors`, so only an origin may enter it. */
export const PortalFrameOrigins = z
  .array(
    z
      .string()
      .max(LIMITS.portalUrlCharsMax)
      .regex(
        FRAME_ORIGIN,
        'must be an origin in lower case without a path, such as https://app.example.com or https://*.example.com; http only for localhost',
      ),
  )
  .max(LIMITS.portalFrameOriginsMax)
  .describe('The origins whose pages may embed the portal in a frame. Empty: no other page.')

export const PORTAL_SERVES = ['one_customer', 'many_customers'] as const
export const PortalServes = z
  .enum(PORTAL_SERVES)
  .describe(
    '`one_customer`: the portal serves the first customer that it gets, and a token for another one is refused with 409 `portal_customer_mismatch`. `many_customers`: one portal for all your customers, each with its own destinations.',
  )

/** The id that the company gives a customer. */
export const CustomerId = Text.trim()
  .min(1)
  .max(LIMITS.customerIdCharsMax)
  .regex(/^[^\p{Cc}]*$/u, 'may not contain control characters')
  .describe('Your ID for the customer. Events identify the customer by this ID.')
export const CustomerName = Text.trim().min(1).max(LIMITS.nameCharsMax).nullable()
