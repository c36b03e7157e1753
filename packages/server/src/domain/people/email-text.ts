/** An email before it is rendered: plain sentences, at most one link, and a note for people who did not expect it. */
export type EmailText = {
  readonly subject: string
  readonly lines: readonly string[]
  readonly action?: { readonly label: string; readonly url: string }
  readonly footnote?: string
}

const DAY = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })

/** "Nov 24, 2026 (UTC)": the day of a time (milliseconds). */
export function dayText(ms: number): string {
  return `${DAY.format(ms)} (UTC)`
}

/** The same email as text and as HTML. It may contain names of people and workspaces, so everything is escaped. */
export function writeEmail({ subject, lines, action, footnote }: EmailText): {
  readonly subject: string
  readonly text: string
  readonly html: string
} {
  const oneLine = subject.replaceAll(/\s+/g, ' ').trim()
  const parts = [
    ...lines,
    ...(action === undefined ? [] : [`${action.label}:\n${action.url}`]),
    ...(footnote === undefined ? [] : [footnote]),
  ]
  const html = [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(oneLine)}</title></head>`,
    '<body style="margin:0;padding:32px 24px;font:15px/24px ui-sans-serif,system-ui,sans-serif"><div style="max-width:480px;margin:0 auto">',
    ...lines.map((line) => `<p style="margin:0 0 16px">${escapeHtml(line)}</p>`),
    ...(action === undefined ? [] : [linkOf(action)]),
    ...(footnote === undefined
      ? []
      : [`<p style="margin:24px 0 0;font-size:13px;line-height:20px;opacity:.7">${escapeHtml(footnote)}</p>`]),
    '</div></body></html>',
  ]
  return { subject: oneLine, text: `${parts.join('\n\n')}\n`, html: html.join('\n') }
}

function linkOf({ label, url }: { label: string; url: string }): string {
  const button =
    'display:inline-block;border:1px solid #55636b;padding:10px 18px;border-radius:7px;background:#171f25;color:#fdfdfb;text-decoration:none;font-weight:600'
  return [
    `<p style="margin:0 0 16px"><a href="${escapeHtml(url)}" style="${button}">${escapeHtml(label)}</a></p>`,
    `<p style="margin:0;font-size:13px;line-height:20px;opacity:.7">Or open this address:<br><span style="word-break:break-all">${escapeHtml(url)}</span></p>`,
  ].join('\n')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign)
}
