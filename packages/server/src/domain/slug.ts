import { SYSTEM_DATASET } from '@postroad/contract/plain'

/** A slug from a name: lower case, words joined by dashes, at most 63 characters; `fallback` when no character remains. */
export function slugFrom(name: string, fallback: string): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')
  return slug === '' ? fallback : slug
}

/** A dataset name from a slug: it starts with a letter and has underscores instead of dashes. */
export function datasetFrom(slug: string): string {
  const name = slug.replaceAll('-', '_').slice(0, 62)
  if (name === SYSTEM_DATASET) return `${name}_events`
  return /^[a-z]/.test(name) ? name : `d${name}`
}
