// Loaded before the page is drawn, so that it is never drawn in the other theme first.
try {
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage is turned off: the system's theme it is.
}
