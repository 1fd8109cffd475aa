import { ssrRenderAttrs } from "vue/server-renderer";
import { useSSRContext } from "vue";
import { _ as _export_sfc } from "./plugin-vue_export-helper.1tPrXgE0.js";
const __pageData = JSON.parse('{"title":"API reference","description":"","frontmatter":{},"headers":[],"relativePath":"api/index.md","filePath":"api/index.md"}');
const _sfc_main = { name: "api/index.md" };
function _sfc_ssrRender(_ctx, _push, _parent, _attrs, $props, $setup, $data, $options) {
  _push(`<div${ssrRenderAttrs(_attrs)}><h1 id="api-reference" tabindex="-1">API reference <a class="header-anchor" href="#api-reference" aria-label="Permalink to &quot;API reference&quot;">​</a></h1><p>Begin with <a href="./@owner-sso/core#createsso">createSso</a>, which signs in, and <a href="./@owner-sso/token-manager#createtokenmanager">createTokenManager</a>, which hands out a valid access token from then on. In an Express application that is <a href="./@owner-sso/passport#ownerssostrategy">OwnerSsoStrategy</a> and <a href="./@owner-sso/express#ownerapiproxy">ownerApiProxy</a>.</p><h2 id="modules" tabindex="-1">Modules <a class="header-anchor" href="#modules" aria-label="Permalink to &quot;Modules&quot;">​</a></h2><ul><li><a href="./@owner-sso/express">@owner-sso/express</a></li><li><a href="./@owner-sso/broker">@owner-sso/broker</a></li><li><a href="./@owner-sso/recorder">@owner-sso/recorder</a></li><li><a href="./@owner-sso/emulator">@owner-sso/emulator</a></li><li><a href="./@owner-sso/emulator/jest">@owner-sso/emulator/jest</a></li><li><a href="./@owner-sso/token-manager">@owner-sso/token-manager</a></li><li><a href="./@owner-sso/core">@owner-sso/core</a></li><li><a href="./@owner-sso/token-store-memory">@owner-sso/token-store-memory</a></li><li><a href="./@owner-sso/passport">@owner-sso/passport</a></li><li><a href="./@owner-sso/token-store-conformance">@owner-sso/token-store-conformance</a></li><li><a href="./@owner-sso/token-store-file">@owner-sso/token-store-file</a></li><li><a href="./@owner-sso/token-store-redis">@owner-sso/token-store-redis</a></li><li><a href="./@owner-sso/token-store-sql">@owner-sso/token-store-sql</a></li></ul></div>`);
}
const _sfc_setup = _sfc_main.setup;
_sfc_main.setup = (props, ctx) => {
  const ssrContext = useSSRContext();
  (ssrContext.modules || (ssrContext.modules = /* @__PURE__ */ new Set())).add("api/index.md");
  return _sfc_setup ? _sfc_setup(props, ctx) : void 0;
};
const index = /* @__PURE__ */ _export_sfc(_sfc_main, [["ssrRender", _sfc_ssrRender]]);
export {
  __pageData,
  index as default
};
