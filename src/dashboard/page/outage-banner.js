import { setText } from './dom.js'
import { clock } from './format.js'
import { headlineList } from './headlines.js'

/**
 * Creates the banner about stores that are unavailable, for all views but the overview, whose headlines name them.
 * In any view, a screen reader announces an outage once.
 */
export function outageBanner(banner, announcement) {
  const list = headlineList('Unavailable stores')
  banner.append(list.element)

  return {
    show(model, { view }) {
      const isOfStore = ({ finding }) => finding.kind === 'store-outage'
      const shown = view === '' ? [] : model.headlines.filter(isOfStore)
      banner.hidden = shown.length === 0
      list.show(shown, model)
      const names = model.outages.map(
        ({ store, sinceMs }) => `${store} has been unavailable since ${clock(sinceMs)}.`,
      )
      setText(announcement, names.join(' '))
    },
  }
}
