import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { MarkdownRenderer } from 'vitepress'
import { pictureSize } from './picture-size.js'

const PICTURE = /<picture>(.*?)<\/picture>/gs
const DARK_SOURCE = /<source media="\(prefers-color-scheme: dark\)"\s+srcset="([^"]+)">/
const SRC = /(?<=\ssrc=")[^"]+/

/**
 * Shows the picture of the theme that a reader has chosen. In Markdown, `<picture>` follows the system's
 * theme, and `![…](NAME-light.svg)` is always light: both become two images, `NAME-light` and `NAME-dark`.
 * Images get their sizes, so that nothing moves when they arrive. One may be wider than a phone, so each has
 * a box to scroll in.
 */
export function followTheme(md: MarkdownRenderer, docs: string): void {
  md.core.ruler.before('block', 'follow_theme', (state) => {
    const folder = join(docs, dirname(state.env.relativePath ?? ''))
    state.src = state.src.replace(PICTURE, (_, inner: string) => boxOf(imagesOf(inner), folder))
  })

  const { image } = md.renderer.rules
  if (image === undefined) throw new Error('Markdown images have no rule.')
  md.renderer.rules.image = (tokens, i, options, env, self) => {
    const folder = join(docs, dirname(env.relativePath ?? ''))
    const light = image(tokens, i, options, env, self)
    const dark = light.replace('-light.', '-dark.')
    const isThere = dark !== light && existsSync(join(folder, srcOf(dark)))
    return boxOf(isThere ? [light, dark] : [light], folder)
  }
}

/** Returns the images of the inside of a `<picture>`, each in one line: a blank line would end the box. */
function imagesOf(inner: string): string[] {
  const [source = '', dark] = DARK_SOURCE.exec(inner) ?? []
  const light = inner.replace(source, '').replaceAll(/\s+/g, ' ').trim()
  return dark === undefined ? [light] : [light, light.replace(SRC, dark)]
}

/** Of a light and a dark image, one is not displayed. It is not loaded either, because it is lazy. */
function boxOf(images: readonly string[], folder: string): string {
  const themes = images.length > 1 ? [' class="only-light"', ' class="only-dark"'] : ['']
  const shown = images.map((image, i) =>
    image.replace('<img', `<img loading="lazy"${themes[i]}${sizeOf(join(folder, srcOf(image)))}`),
  )
  const isPlot = srcOf(images[0] ?? '').endsWith('.svg') // wider than a phone, so it has to scroll by keyboard
  return `<span class="picture${isPlot ? ' is-plot" tabindex="0' : ''}">${shown.join('')}</span>`
}

function sizeOf(path: string): string {
  const size = existsSync(path) ? pictureSize(path) : undefined
  return size === undefined ? '' : ` width="${size[0]}" height="${size[1]}"`
}

function srcOf(image: string): string {
  return SRC.exec(image)?.[0] ?? ''
}
