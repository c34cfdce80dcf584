import { Html } from '../jsx/html.ts'

/** Drawings of 16 by 16 in the colour of the text. Each stands beside words that say the same. */
function icon(path: string): () => Html {
  const drawn = new Html(
    `<svg class="icon" viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${path}</svg>`,
  )
  return () => drawn
}

export const DirectoryIcon = icon(
  '<path d="M1.8 12.6V3.9c0-.5.4-.9.9-.9h3.2l1.5 1.8h5.9c.5 0 .9.4.9.9v6.9c0 .5-.4.9-.9.9H2.7a.9.9 0 0 1-.9-.9Z" fill="currentColor" fill-opacity=".22"/>',
)
export const FileIcon = icon('<path d="M3.7 1.8h5.2l3.4 3.5v8.9H3.7zM8.8 2v3.4h3.4"/>')
export const LinkIcon = icon('<path d="M3.7 1.8h5.2l3.4 3.5v8.9H3.7zM6.1 11.3l4-4M7 7.2h3.2v3.2"/>')
export const SubmoduleIcon = icon(
  '<path d="M2.2 4.6 8 1.7l5.8 2.9v6.8L8 14.3l-5.8-2.9zM2.2 4.6 8 7.5l5.8-2.9M8 7.5v6.8"/>',
)
export const BranchIcon = icon(
  '<circle cx="4.3" cy="3.3" r="1.6"/><circle cx="4.3" cy="12.7" r="1.6"/><circle cx="11.7" cy="5.3" r="1.6"/><path d="M4.3 4.9v6.2M11.7 6.9c0 2.6-5 1.7-7.2 3.6"/>',
)
export const TagIcon = icon(
  '<path d="M1.9 8.3V2.6c0-.4.3-.7.7-.7h5.7l5.8 5.8-6.4 6.4z"/><circle cx="5.2" cy="5.2" r=".9"/>',
)
export const CommitIcon = icon('<circle cx="8" cy="8" r="2.7"/><path d="M1 8h4.2M10.8 8H15"/>')
export const CodeIcon = icon('<path d="M5.2 4.2 1.6 8l3.6 3.8M10.8 4.2 14.4 8l-3.6 3.8"/>')
export const CompareIcon = icon(
  '<path d="M11.5 10.5V5.6a2 2 0 0 0-2-2H7.4M9.2 1.6 7.2 3.6l2 2M4.5 5.5v4.9a2 2 0 0 0 2 2h2.1M6.8 14.4l2-2-2-2"/>',
)
export const SearchIcon = icon('<circle cx="7" cy="7" r="4.7"/><path d="m10.5 10.5 3.8 3.8"/>')
export const CopyIcon = icon(
  '<path d="M5.4 5.4V2.7c0-.5.4-.9.9-.9h7c.5 0 .9.4.9.9v7c0 .5-.4.9-.9.9h-2.7"/><rect x="1.8" y="5.4" width="8.8" height="8.8" rx=".9"/>',
)
/** Half of it is dark. */
export const ThemeIcon = icon('<circle cx="8" cy="8" r="6"/><path d="M8 2a6 6 0 0 1 0 12z" fill="currentColor"/>')
/** Three strands of a skein, wound around each other. */
export const SkeinMark = icon(
  '<path d="M2.2 3.2c4.6 0 7 9.6 11.6 9.6M2.2 8c3 0 3.5-3 5.8-3s2.8 6 5.8 3M2.2 12.8c4.6 0 7-9.6 11.6-9.6"/>',
)
