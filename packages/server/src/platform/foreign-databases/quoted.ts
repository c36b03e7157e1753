/** A name in SQL. The driver has the same functions, but it is loaded only when a database is reached. */
export const identifier = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A text in SQL, with either setting of `standard_conforming_strings`. */
export function literal(text: string): string {
  const quoted = `'${text.replaceAll("'", "''").replaceAll('\\', '\\\\')}'`
  return text.includes('\\') ? ` E${quoted}` : quoted
}
