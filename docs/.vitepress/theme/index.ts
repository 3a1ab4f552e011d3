import DefaultTheme from 'vitepress/theme'
import './style/brand.css'
import './style/pictures.css'
import './style/code.css'
import './style/tables.css'
import './style/front/page.css'
import './style/front/hero.css'
import './style/front/cards.css'

export default DefaultTheme
