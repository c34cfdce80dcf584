/** How numbers and times are shown. */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `1 Mar 2026`, in UTC: pages are kept by caches, so they say when something was and not how long ago. */
export function formatDay(milliseconds: number): string {
  const date = new Date(milliseconds)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`
}

/** `1 Mar 2026, 09:05 UTC` */
export function formatTime(milliseconds: number): string {
  const date = new Date(milliseconds)
  const [hours, minutes] = [date.getUTCHours(), date.getUTCMinutes()].map((part) => String(part).padStart(2, '0'))
  return `${formatDay(milliseconds)}, ${hours}:${minutes} UTC`
}

const UNITS = ['KB', 'MB', 'GB', 'TB']

/** `3.4 KB`; units of 1000. */
export function formatSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  let size = bytes
  let unit = -1
  while (size >= 999.5 && unit < UNITS.length - 1) {
    size /= 1000
    unit++
  }
  return `${size < 9.95 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`
}

/** `12,345` */
export function formatCount(count: number): string {
  return count.toLocaleString('en')
}

/** `1 file`, `2 files` */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`
}
