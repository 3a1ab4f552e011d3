import { existsSync, readFileSync } from 'node:fs'

/** An item of a sidebar of VitePress, which is checked without it. */
interface SidebarItem {
  readonly text: string
  readonly link?: string
  readonly collapsed?: boolean
  readonly items?: SidebarItem[]
}

/** An entry of the package as TypeDoc lists it: the path of its index, and below it all its pages. */
interface Entry extends SidebarItem {
  readonly link: string
}

/**
 * Returns the sidebars of the API reference by the start of a page's path: each lists all entries, and the
 * pages of one. With the pages of all entries, the sidebar would be most of each page.
 */
export function apiSidebars(entries: readonly Entry[]): Record<string, SidebarItem[]> {
  const others = entries.map(({ text, link }) => ({ text, link }))
  const sidebars = entries.map((entry, i) => [entry.link, others.with(i, entry)])
  return { '/api/': others, ...Object.fromEntries(sidebars) }
}

/** Reads the entries that TypeDoc writes before VitePress runs. */
export function readEntries(): readonly Entry[] {
  const path = new URL('../api/typedoc-sidebar.json', import.meta.url)
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : []
}
