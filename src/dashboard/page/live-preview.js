import { el, setChildren } from './dom.js'
import { previewTexts } from './preview-text.js'
import { ask } from './server.js'

const TYPING_MS = 400

/**
 * Creates the list of what a change would have done. `changeOf()` returns the change, or `undefined` if there is none yet.
 * A reply that comes late never replaces a later one.
 */
export function livePreview(changeOf) {
  const element = el('ul', { class: 'preview', 'aria-live': 'polite' })
  let timer
  let latest = 0

  async function load() {
    const turn = ++latest
    const texts = await read().catch(({ message }) => [`The preview failed: ${message}`])
    if (turn === latest) setChildren(element, texts.join('\n'), () => texts.map((text) => el('li', {}, text)))
  }

  async function read() {
    const change = changeOf()
    return change === undefined ? [] : previewTexts(await ask('preview', change))
  }

  return {
    element,
    load,
    /** Reads it again shortly after the last key. */
    typed() {
      clearTimeout(timer)
      timer = setTimeout(load, TYPING_MS)
    },
  }
}
