#ifndef HARDTANH_GRAD_TILING_KEY_H_
#define HARDTANH_GRAD_TILING_KEY_H_

#include "ascendc/host_api/tiling/template_argument.h"
#include "hardtanh_grad_tiling_data.h"

ASCENDC_TPL_ARGS_DECL(HardtanhGrad,
                      ASCENDC_TPL_UINT_DECL(schMode, ASCENDC_TPL_1_BW, ASCENDC_TPL_UI_LIST,
                                            HARDTANH_GRAD_SINGLE_BUFFER, HARDTANH_GRAD_DOUBLE_BUFFER));

ASCENDC_TPL_SEL(ASCENDC_TPL_ARGS_SEL(ASCENDC_TPL_KERNEL_TYPE_SEL(ASCENDC_TPL_AIV_ONLY),
                                     ASCENDC_TPL_UINT_SEL(schMode, ASCENDC_TPL_UI_LIST,
                                                          HARDTANH_GRAD_SINGLE_BUFFER,
                                                          HARDTANH_GRAD_DOUBLE_BUFFER)));

#endif  // HARDTANH_GRAD_TILING_KEY_H_
