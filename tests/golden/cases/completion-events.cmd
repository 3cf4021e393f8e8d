cat > try <<'END'
source <("$assay" help --completion)
compopt() { :; }
try() {
  COMP_LINE=$1 COMP_POINT=${#1}; shift
  COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
  _assay; echo "${COMPREPLY[*]}"
}
try "$assay encode knm::ICA" "$assay" encode knm :: ICA
try "$assay encode knm::ICACHE:H" "$assay" encode knm :: ICACHE : H
try "$assay encode --wr" "$assay" encode --wr
try "$assay enc" "$assay" enc
END
bash try
