import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { HeadConfig, PageData, TransformContext } from 'vitepress'
import { descriptionOf } from './description.js'

/** Describes a page by its first paragraph, unless its frontmatter does. */
export function describePage(pageData: PageData, docs: string): void {
  if (pageData.description !== '') return
  const markdown = readFileSync(join(docs, pageData.filePath), 'utf8')
  pageData.description = descriptionOf(markdown) ?? ''
}

/** Returns the tags from which chats and social networks make the preview of a link to a page. */
export function previewTags({ pageData, title, description }: TransformContext, home: string): HeadConfig[] {
  const path = pageData.relativePath.replace(/(?:(?<=^|\/)index)?\.md$/, '')
  const properties = {
    'og:type': 'website',
    'og:site_name': 'headgate',
    'og:title': path === '' ? 'headgate: rate limiting for Node.js' : title,
    'og:description': description,
    'og:url': home + path,
    'og:image': `${home}link-preview.png`,
    'og:image:width': '1200',
    'og:image:height': '630',
    'og:image:alt': 'headgate: rate limiting for Node.js servers',
  }
  return [
    ...Object.entries(properties).map(([property, content]): HeadConfig => ['meta', { property, content }]),
    ['meta', { name: 'twitter:card', content: 'summary_large_image' }],
  ]
}
