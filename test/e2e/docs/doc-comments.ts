import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from './pages.js'

/** The doc comments of src/, a page for each source, so that the examples in them are run as blocks. */
export function commentPagesOf(root: string): Page[] {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const paths = files.filter((name) => name.endsWith('.ts')).sort()
  return paths.map((name) =>
    commentsOf({ path: `src/${name}`, text: readFileSync(join(root, 'src', name), 'utf8') }),
  )
}

/** The text of the doc comments of a source, on the lines that it has there. All other lines are blank. */
export function commentsOf({ path, text }: Page): Page {
  let isComment = false
  const lines = text.split('\n').map((line) => {
    const content = line.trim()
    if (content === '/**') isComment = true
    else if (content.endsWith('*/')) isComment = false
    else if (isComment) return line.replace(/^\s*\* ?/, '')
    return ''
  })
  return { path, text: lines.join('\n') }
}
