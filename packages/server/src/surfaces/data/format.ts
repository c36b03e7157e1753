import { DATA_FORMATS, type DataFormat } from '@postroad/contract'

type Asked = { readonly type: string; readonly quality: number; readonly place: number }

/**
 * The format of a response by the `Accept` header (RFC 9110): the highest quality decides, then the more specific
 * range, then the earlier one. undefined: the client accepts none of them.
 */
export function formatOf(accept: string | undefined, among: readonly DataFormat[]): DataFormat | undefined {
  if (accept === undefined || accept.trim() === '') return among[0]
  const asked = accept.split(',').map(readRange)
  const rated = among
    .map((format) => ({ format, asked: bestOf(asked, DATA_FORMATS[format]) }))
    .filter((rating) => rating.asked !== undefined && rating.asked.quality > 0)
  const [best] = rated.toSorted((a, b) => compare(a.asked, b.asked))
  return best?.format
}

function readRange(text: string, place: number): Asked {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
  return { type, quality: quality === undefined ? 1 : Number(quality) || 0, place }
}

/** The most specific range that covers a media type. */
function bestOf(asked: readonly Asked[], type: string): Asked | undefined {
  return asked.filter((range) => covers(range.type, type)).toSorted((a, b) => specificity(b) - specificity(a))[0]
}

function covers(range: string, type: string): boolean {
  return range === type || range === '*/*' || range === `${type.split('/')[0]}/*`
}

const specificity = ({ type }: Asked): number => (type === '*/*' ? 0 : type.endsWith('/*') ? 1 : 2)

function compare(a: Asked | undefined, b: Asked | undefined): number {
  if (a === undefined || b === undefined) return 0
  return b.quality - a.quality || specificity(b) - specificity(a) || a.place - b.place
}
