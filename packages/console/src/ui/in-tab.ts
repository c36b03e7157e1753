/** Opens the current address in another tab, with this thing beside the list. */
export function openInTab(id: string): void {
  const url = new URL(location.href)
  url.searchParams.set('sel', id)
  open(url, '_blank', 'noopener')
}
