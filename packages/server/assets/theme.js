/* Light or dark as it was chosen in the console; before anything is drawn, so it is no module. Without a choice, as the system says. */
try {
  const theme = localStorage.getItem('postroad.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // A browser without storage has stored no choice.
}
