/** Opens the current list in another tab, with this row selected. */
export function openInTab(id: string): void {
  const url = new URL(location.href)
  url.searchParams.set('sel', id)
  open(url, '_blank', 'noopener')
}
